# The kernels of src/back/cuda, compiled by nvcc where there is one and put into the library. What
# calls them is always built: it finds the driver when a program runs.
#   VOLTA_CUDA        AUTO: with kernels where nvcc is found and works; ON: fails without; OFF: without.
#                     FAKE is for tests: an image of one byte for each module, which the driver of
#                     tests/fake_cuda takes as it takes any.
#   VOLTA_CUDA_ARCHS  the architectures, as far as nvcc knows them: all, or a list; PTX of the lowest and
#                     of the highest goes with them. `audited` is for tests: cuda_few and what the GPUs here need.
# TEST is for tests too: AUTO, and FAKE where there is no nvcc.
set(VOLTA_CUDA AUTO CACHE STRING "Kernels for NVIDIA GPUs: AUTO, ON, OFF")
set_property(CACHE VOLTA_CUDA PROPERTY STRINGS AUTO ON OFF)
set(VOLTA_CUDA_ARCHS all CACHE STRING "Compute capabilities that kernels are compiled for: all, or e.g. 80;90")
set(cuda_all 80 86 89 90 100 120)
set(cuda_few 80 90 100) # a generation each; what no GPU has run yet is compiled for these and audited
if(NOT VOLTA_CUDA MATCHES "^(AUTO|ON|OFF|FAKE|TEST)$")
  message(FATAL_ERROR "VOLTA_CUDA is AUTO, ON or OFF, and not \"${VOLTA_CUDA}\"")
endif()
set(cuda_room ${CMAKE_SOURCE_DIR}/src/back/cuda)
set(cuda_folder ${CMAKE_BINARY_DIR}/cuda)
file(MAKE_DIRECTORY ${cuda_folder})

# The words are those of cuda_options.h, which are part of the precision configuration.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cuda_room}/cuda_options.h
  ${cuda_room}/kernels.def)
file(READ ${cuda_room}/cuda_options.h cuda_text)
string(REGEX MATCH "VT_CUDA_OPTIONS \"([^\"]*)\"" cuda_match "${cuda_text}")
string(REPLACE " " ";" cuda_options "${CMAKE_MATCH_1}")
string(REGEX MATCH "VT_CUDA_STANDARD \"([^\"]*)\"" cuda_match "${cuda_text}")
set(cuda_flags ${CMAKE_MATCH_1} -O3 ${cuda_options} -Werror all-warnings
  -I${cuda_room} -I${CMAKE_SOURCE_DIR}/src/emit -I${CMAKE_SOURCE_DIR}/src/num)

# A module for each row VT_GPU_MODULE(name) of kernels.def, in that order; it is name.cu.
file(STRINGS ${cuda_room}/kernels.def cuda_rows REGEX "^VT_GPU_MODULE\\(")
list(TRANSFORM cuda_rows REPLACE "^VT_GPU_MODULE\\(([a-z0-9_]+)\\).*" "\\1" OUTPUT_VARIABLE cuda_modules)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${cuda_room}/*.cu)
foreach(source ${cuda_sources})
  get_filename_component(name ${source} NAME_WE)
  if(NOT name IN_LIST cuda_modules)
    message(FATAL_ERROR "src/back/cuda/${name}.cu is no module of kernels.def")
  endif()
endforeach()

# ---- nvcc, if it is wanted: cuda_archs is empty without it ----
set(cuda_archs "")
set(cuda_compiler "")
# A compiler that lacks its host compiler is found as well as one that works.
function(cuda_try)
  file(WRITE ${cuda_folder}/try.cu "extern \"C\" __global__ void nothing(float *x) { *x = 0; }\n")
  execute_process(COMMAND ${VOLTA_NVCC} ${cuda_flags} -fatbin ${cuda_folder}/try.cu -o ${cuda_folder}/try.fatbin
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(result EQUAL 0)
    set(VOLTA_NVCC_WORKS "${VOLTA_NVCC}" CACHE INTERNAL "the nvcc that was seen to compile")
  else()
    string(STRIP "${said}" said)
    set(cuda_why "${VOLTA_NVCC} does not compile: ${said}" PARENT_SCOPE)
  endif()
endfunction()
# Of the architectures `have`, which ascend, the one that each GPU of this machine runs: the highest of
# its generation that is not above it.
function(cuda_here have result)
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
# Fills cuda_archs with those of VOLTA_CUDA_ARCHS that nvcc has, from the lowest to the highest.
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
    cuda_here("${have}" here)
    list(JOIN cuda_few "|" few)
    list(FILTER have INCLUDE REGEX "^(${few})$")
    list(APPEND have ${here})
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
set(cuda_audited "") # what tests look at: PTX, and registers
# The kernels of one module, folder/name.cu: compiled for each architecture by itself, so that another list
# of them compiles only what is new, then put together.
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
  # As PTX, which a driver compiles for a GPU that has no kernels of its own: of the highest for what is to
  # come, of the lowest for what lies between two of them.
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

# ---- texts: what a kernel that NVRTC compiles may include ----
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
file(CONFIGURE OUTPUT ${cuda_folder}/images.list CONTENT "${cuda_list}" @ONLY) # untouched when equal

add_custom_command(OUTPUT ${GENERATED}/cuda_images.inc
  COMMAND ${CMAKE_COMMAND} -DLIST=${cuda_folder}/images.list -DOUT=${GENERATED}/cuda_images.inc
    "-DARCHITECTURES=${cuda_names}" "-DCOMPILER=${cuda_compiler}"
    -P ${CMAKE_SOURCE_DIR}/cmake/cuda_images.cmake
  DEPENDS ${cuda_images} ${cuda_texts} ${cuda_room}/gpu_stdint.h ${cuda_folder}/images.list
    ${CMAKE_SOURCE_DIR}/cmake/cuda_images.cmake VERBATIM)
add_custom_target(cuda_images DEPENDS ${GENERATED}/cuda_images.inc)
add_dependencies(vt_back_cuda cuda_images)
target_link_libraries(vt_back_cuda PUBLIC ${CMAKE_DL_LIBS})
