# Compiles the kernels of src/back/cuda with nvcc, if there is one, and embeds them in the library. The code that
# launches them is always built; it looks for the driver when a program runs.
#   VOLTA_CUDA        AUTO: kernels are built if nvcc is found and works; ON: it is an error if they cannot be built;
#                     OFF: none are built. FAKE and TEST are for tests. FAKE: each module is an image of one byte,
#                     which the emulated driver of tests/fake_cuda accepts. TEST: AUTO, but FAKE without an nvcc.
#   VOLTA_CUDA_ARCHS  the architectures to compile for: `all`, or a list; those that nvcc does not know are left out.
#                     PTX of the lowest and the highest is embedded as well. `audited` is for tests: cuda_few and the
#                     architectures of this machine's GPUs.
set(VOLTA_CUDA AUTO CACHE STRING "Kernels for NVIDIA GPUs: AUTO, ON, OFF")
set_property(CACHE VOLTA_CUDA PROPERTY STRINGS AUTO ON OFF)
set(VOLTA_CUDA_ARCHS all CACHE STRING "Compute capabilities that kernels are compiled for: all, or e.g. 80;90")
set(cuda_all 80 86 89 90 100 120)
set(cuda_few 80 90 100) # one architecture per generation, for the audit of kernels that no GPU has run yet
if(NOT VOLTA_CUDA MATCHES "^(AUTO|ON|OFF|FAKE|TEST)$")
  message(FATAL_ERROR "VOLTA_CUDA is AUTO, ON or OFF, and not \"${VOLTA_CUDA}\"")
endif()
set(cuda_room ${CMAKE_SOURCE_DIR}/src/back/cuda)
set(cuda_folder ${CMAKE_BINARY_DIR}/cuda)
file(MAKE_DIRECTORY ${cuda_folder})

# The flags of nvcc come from cuda_options.h, because they are part of the precision configuration.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cuda_room}/cuda_options.h
  ${cuda_room}/kernels.def)
file(READ ${cuda_room}/cuda_options.h cuda_text)
string(REGEX MATCH "VT_CUDA_OPTIONS \"([^\"]*)\"" cuda_match "${cuda_text}")
string(REPLACE " " ";" cuda_options "${CMAKE_MATCH_1}")
string(REGEX MATCH "VT_CUDA_STANDARD \"([^\"]*)\"" cuda_match "${cuda_text}")
set(cuda_flags ${CMAKE_MATCH_1} -O3 ${cuda_options} -Werror all-warnings
  -I${cuda_room} -I${CMAKE_SOURCE_DIR}/src/emit -I${CMAKE_SOURCE_DIR}/src/num)

# Each row VT_GPU_MODULE(name) of kernels.def is a module with the source name.cu; the list has their order.
file(STRINGS ${cuda_room}/kernels.def cuda_rows REGEX "^VT_GPU_MODULE\\(")
list(TRANSFORM cuda_rows REPLACE "^VT_GPU_MODULE\\(([a-z0-9_]+)\\).*" "\\1" OUTPUT_VARIABLE cuda_modules)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${cuda_room}/*.cu)
foreach(source ${cuda_sources})
  get_filename_component(name ${source} NAME_WE)
  if(NOT name IN_LIST cuda_modules)
    message(FATAL_ERROR "src/back/cuda/${name}.cu has no row VT_GPU_MODULE in kernels.def")
  endif()
endforeach()

# ---- nvcc and its architectures; cuda_archs stays empty without an nvcc ----
set(cuda_archs "")
set(cuda_compiler "")
# Tries to compile a kernel, because an nvcc that lacks its host compiler is found just as one that works. Sets
# VOLTA_NVCC_WORKS, or cuda_why to the reason of the failure.
function(cuda_try)
  file(WRITE ${cuda_folder}/try.cu "extern \"C\" __global__ void nothing(float *x) { *x = 0; }\n")
  execute_process(COMMAND ${VOLTA_NVCC} ${cuda_flags} -fatbin ${cuda_folder}/try.cu -o ${cuda_folder}/try.fatbin
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(result EQUAL 0)
    set(VOLTA_NVCC_WORKS "${VOLTA_NVCC}" CACHE INTERNAL "the nvcc that has compiled a kernel")
  else()
    string(STRIP "${said}" said)
    set(cuda_why "${VOLTA_NVCC} does not compile: ${said}" PARENT_SCOPE)
  endif()
endfunction()
# Sets `result` to the architectures that the GPUs of this machine use, from the ascending list `have`. A GPU uses the
# highest architecture of its own generation that is not above its compute capability.
function(cuda_archs_of_gpus have result)
  set(found "")
  find_program(VOLTA_NVIDIA_SMI nvidia-smi)
  if(VOLTA_NVIDIA_SMI)
    execute_process(COMMAND ${VOLTA_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE said ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" gpus "${said}")
    foreach(gpu ${gpus})
      string(REPLACE "." "" gpu ${gpu})
      math(EXPR generation "${gpu} / 10 * 10")
      set(best "")
      foreach(arch ${have})
        if(NOT arch LESS generation AND NOT arch GREATER gpu)
          set(best ${arch})
        endif()
      endforeach()
      list(APPEND found ${best})
    endforeach()
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()
# Sets cuda_archs to those of VOLTA_CUDA_ARCHS that nvcc knows, in ascending order.
function(cuda_known)
  execute_process(COMMAND ${VOLTA_NVCC} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" known "${known}")
  set(have "")
  set(left_out "")
  set(wanted ${VOLTA_CUDA_ARCHS})
  if(wanted MATCHES "^(all|audited)$")
    set(wanted ${cuda_all})
  endif()
  foreach(arch ${wanted})
    if(arch IN_LIST known)
      list(APPEND have ${arch})
    else()
      list(APPEND left_out ${arch})
    endif()
  endforeach()
  list(SORT have COMPARE NATURAL)
  if(left_out)
    string(REPLACE ";" " " left_out "${left_out}")
    message(STATUS "CUDA: this nvcc does not know ${left_out}; kernels are built without")
  endif()
  if(VOLTA_CUDA_ARCHS STREQUAL "audited")
    cuda_archs_of_gpus("${have}" of_gpus)
    list(JOIN cuda_few "|" few)
    list(FILTER have INCLUDE REGEX "^(${few})$")
    list(APPEND have ${of_gpus})
    list(REMOVE_DUPLICATES have)
    list(SORT have COMPARE NATURAL)
  endif()
  if(NOT have)
    set(cuda_why "${VOLTA_NVCC} knows none of the architectures ${wanted}" PARENT_SCOPE)
  endif()
  set(cuda_archs "${have}" PARENT_SCOPE)
endfunction()

if(VOLTA_CUDA MATCHES "^(AUTO|ON|TEST)$")
  find_program(VOLTA_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin PATHS /usr/local/cuda/bin)
  set(cuda_why "")
  if(NOT VOLTA_NVCC)
    set(cuda_why "no nvcc in PATH, CUDA_HOME or /usr/local/cuda")
  else()
    get_filename_component(cuda_bin ${VOLTA_NVCC} REALPATH)
    get_filename_component(cuda_bin ${cuda_bin} DIRECTORY)
    find_program(VOLTA_FATBINARY fatbinary HINTS ${cuda_bin})
  endif()
  if(NOT cuda_why AND NOT VOLTA_FATBINARY)
    set(cuda_why "no fatbinary beside ${VOLTA_NVCC}")
  elseif(NOT cuda_why AND NOT "${VOLTA_NVCC_WORKS}" STREQUAL "${VOLTA_NVCC}")
    cuda_try()
  endif()
  if(NOT cuda_why)
    cuda_known()
  endif()
  if(cuda_why AND VOLTA_CUDA STREQUAL "ON")
    message(FATAL_ERROR "VOLTA_CUDA=ON: ${cuda_why}")
  elseif(cuda_why)
    message(STATUS "CUDA: built without kernels: ${cuda_why}")
  endif()
endif()

# ---- images ----
set(cuda_list "")
set(cuda_images "")
set(cuda_names "")
set(cuda_audited "") # arguments of tools/check_ptx.py: PTX files, and files with the registers of kernels
# cuda_module(<name> <folder>): compiles folder/name.cu for each architecture separately, so that another list of
# architectures compiles only the new ones, and combines the results into one fatbin.
function(cuda_module name folder)
  set(parts "")
  set(portable "")
  set(built "")
  set(audited ${cuda_audited})
  foreach(arch ${cuda_archs})
    set(out ${cuda_folder}/${name}.${arch})
    add_custom_command(OUTPUT ${out}.cubin ${out}.ptx ${out}.usage
      COMMAND ${CMAKE_SOURCE_DIR}/tools/compile_kernels.sh ${VOLTA_NVCC} ${arch} ${folder}/${name}.cu ${out} ${cuda_flags}
      DEPENDS ${folder}/${name}.cu ${CMAKE_SOURCE_DIR}/tools/compile_kernels.sh DEPFILE ${out}.d
      COMMENT "Compiling kernels of ${name}.cu for sm_${arch}" VERBATIM)
    list(APPEND parts --image3=kind=elf,sm=${arch},file=${out}.cubin)
    list(APPEND built ${out}.cubin)
    list(APPEND audited ${out}.ptx --usage ${out}.usage)
    if(arch IN_LIST cuda_portable)
      list(APPEND portable --image3=kind=ptx,sm=${arch},file=${out}.ptx)
      list(APPEND built ${out}.ptx)
    endif()
  endforeach()
  add_custom_command(OUTPUT ${cuda_folder}/${name}.fatbin
    COMMAND ${VOLTA_FATBINARY} --create=${cuda_folder}/${name}.fatbin -64 -compress-all
      "--cmdline= --fmad false " ${parts} ${portable}
    DEPENDS ${built} VERBATIM)
  set(cuda_audited ${audited} PARENT_SCOPE)
endfunction()

if(VOLTA_CUDA STREQUAL "FAKE" OR (VOLTA_CUDA STREQUAL "TEST" AND NOT cuda_archs))
  set(cuda_names none)
  file(WRITE ${cuda_folder}/fake.image "0")
  foreach(name ${cuda_modules})
    string(APPEND cuda_list "image ${name} ${cuda_folder}/fake.image\n")
  endforeach()
elseif(cuda_archs)
  execute_process(COMMAND ${VOLTA_NVCC} --version OUTPUT_VARIABLE cuda_said)
  string(REGEX MATCH "release ([0-9.]+)" cuda_match "${cuda_said}")
  set(cuda_compiler "nvcc ${CMAKE_MATCH_1}")
  list(TRANSFORM cuda_archs PREPEND sm_ OUTPUT_VARIABLE cuda_names)
  # PTX is embedded too, which a driver compiles for GPUs of other architectures: that of the highest for later GPUs,
  # that of the lowest for GPUs between two architectures of the list.
  list(GET cuda_archs 0 -1 cuda_portable)
  list(REMOVE_DUPLICATES cuda_portable)
  foreach(arch ${cuda_portable})
    list(APPEND cuda_names compute_${arch})
  endforeach()
  foreach(name ${cuda_modules})
    cuda_module(${name} ${cuda_room})
    list(APPEND cuda_images ${cuda_folder}/${name}.fatbin)
    string(APPEND cuda_list "image ${name} ${cuda_folder}/${name}.fatbin\n")
  endforeach()
endif()
string(REPLACE ";" " " cuda_names "${cuda_names}")
if(cuda_archs)
  message(STATUS "CUDA: kernels by ${cuda_compiler} for ${cuda_names}")
endif()

# ---- texts: the headers that a kernel compiled by NVRTC may include ----
file(GLOB cuda_texts CONFIGURE_DEPENDS src/num/*.inc src/emit/*.inc src/emit/*.def ${cuda_room}/gpu_*.h ${cuda_room}/gpu_*.cuh
  ${cuda_room}/tiles.def ${cuda_room}/conv_tiles.def)
list(FILTER cuda_texts EXCLUDE REGEX "_test\\.inc$|/gpu_stdint\\.h$")
foreach(name functions.def ff_functions.def vt_core.h vt_dot.h vt_num.h vt_ff_phase.h vt_words_cuda.h)
  list(APPEND cuda_texts ${CMAKE_SOURCE_DIR}/src/num/${name})
endforeach()
foreach(text ${cuda_texts})
  get_filename_component(name ${text} NAME)
  string(APPEND cuda_list "text ${name} ${text}\n")
endforeach()
string(APPEND cuda_list "text stdint.h ${cuda_room}/gpu_stdint.h\n")
file(CONFIGURE OUTPUT ${cuda_folder}/images.list CONTENT "${cuda_list}" @ONLY) # keeps its time if its content is unchanged

add_custom_command(OUTPUT ${GENERATED}/cuda_images.inc
  COMMAND ${CMAKE_COMMAND} -DLIST=${cuda_folder}/images.list -DOUT=${GENERATED}/cuda_images.inc
    "-DARCHITECTURES=${cuda_names}" "-DCOMPILER=${cuda_compiler}"
    -P ${CMAKE_SOURCE_DIR}/cmake/cuda_images.cmake
  DEPENDS ${cuda_images} ${cuda_texts} ${cuda_room}/gpu_stdint.h ${cuda_folder}/images.list
    ${CMAKE_SOURCE_DIR}/cmake/cuda_images.cmake VERBATIM)
add_custom_target(cuda_images DEPENDS ${GENERATED}/cuda_images.inc)
add_dependencies(vt_back_cuda cuda_images)
target_link_libraries(vt_back_cuda PUBLIC ${CMAKE_DL_LIBS})
