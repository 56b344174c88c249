# The kernels of src/back/cuda, compiled by nvcc where there is one and put into the library. What
# calls them is always built: it finds the driver when a program runs.
#   VOLTA_CUDA        AUTO: with kernels where nvcc is found and works; ON: fails without; OFF: without.
#                     FAKE is for tests: an image of one byte for each module, which the driver of
#                     tests/fake_cuda takes as it takes any.
#   VOLTA_CUDA_ARCHS  the architectures, as far as nvcc knows them; PTX of the highest goes with them
set(VOLTA_CUDA AUTO CACHE STRING "Kernels for NVIDIA GPUs: AUTO, ON, OFF (FAKE for tests)")
set_property(CACHE VOLTA_CUDA PROPERTY STRINGS AUTO ON OFF FAKE)
set(VOLTA_CUDA_ARCHS "80;86;89;90;100;120" CACHE STRING "Compute capabilities that kernels are compiled for")
if(NOT VOLTA_CUDA MATCHES "^(AUTO|ON|OFF|FAKE)$")
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
  -I${cuda_room} -I${CMAKE_SOURCE_DIR}/src/num)

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
# Fills cuda_archs with those of VOLTA_CUDA_ARCHS that nvcc has, from the lowest to the highest.
function(cuda_known)
  execute_process(COMMAND ${VOLTA_NVCC} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" known "${known}")
  set(have "")
  set(left_out "")
  foreach(arch ${VOLTA_CUDA_ARCHS})
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
  if(NOT have)
    set(cuda_why "${VOLTA_NVCC} knows none of the architectures ${VOLTA_CUDA_ARCHS}" PARENT_SCOPE)
  endif()
  set(cuda_archs "${have}" PARENT_SCOPE)
endfunction()

if(VOLTA_CUDA MATCHES "^(AUTO|ON)$")
  find_program(VOLTA_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin PATHS /usr/local/cuda/bin)
  set(cuda_why "")
  if(NOT VOLTA_NVCC)
    set(cuda_why "no nvcc in PATH, CUDA_HOME or /usr/local/cuda")
  elseif(NOT "${VOLTA_NVCC_WORKS}" STREQUAL "${VOLTA_NVCC}")
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
if(VOLTA_CUDA STREQUAL "FAKE")
  set(cuda_names none)
  file(WRITE ${cuda_folder}/fake.image "0")
  foreach(name ${cuda_modules})
    string(APPEND cuda_list "image ${name} ${cuda_folder}/fake.image\n")
  endforeach()
elseif(cuda_archs)
  execute_process(COMMAND ${VOLTA_NVCC} --version OUTPUT_VARIABLE cuda_said)
  string(REGEX MATCH "release ([0-9.]+)" cuda_match "${cuda_said}")
  set(cuda_compiler "nvcc ${CMAKE_MATCH_1}")
  set(cuda_targets "")
  foreach(arch ${cuda_archs})
    list(APPEND cuda_targets -gencode arch=compute_${arch},code=sm_${arch})
    list(APPEND cuda_names sm_${arch})
  endforeach()
  list(GET cuda_archs -1 cuda_highest)
  list(APPEND cuda_targets -gencode arch=compute_${cuda_highest},code=compute_${cuda_highest})
  list(APPEND cuda_names compute_${cuda_highest})
  foreach(name ${cuda_modules})
    set(image ${cuda_folder}/${name}.fatbin)
    add_custom_command(OUTPUT ${image}
      COMMAND ${CMAKE_SOURCE_DIR}/tools/compile_kernels.sh ${image} ${VOLTA_NVCC} ${cuda_flags} ${cuda_targets}
        -Xfatbin -compress-all ${cuda_room}/${name}.cu -MD -MF ${image}.d -MT ${image}
      DEPENDS ${cuda_room}/${name}.cu ${CMAKE_SOURCE_DIR}/tools/compile_kernels.sh DEPFILE ${image}.d
      COMMENT "Compiling kernels of ${name}.cu" VERBATIM)
    list(APPEND cuda_images ${image})
    string(APPEND cuda_list "image ${name} ${image}\n")
  endforeach()
  message(STATUS "CUDA: kernels by ${cuda_compiler} for ${cuda_archs}")
endif()
string(REPLACE ";" " " cuda_names "${cuda_names}")

# ---- texts: what a kernel that NVRTC compiles may include ----
file(GLOB cuda_texts CONFIGURE_DEPENDS src/num/*.inc ${cuda_room}/gpu_*.h ${cuda_room}/gpu_*.cuh
  ${cuda_room}/gpu_*.inc)
list(FILTER cuda_texts EXCLUDE REGEX "_test\\.inc$|/gpu_stdint\\.h$")
foreach(name functions.def shorts.def vt_core.h vt_dot.h vt_num.h vt_short.h vt_words_cuda.h)
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
