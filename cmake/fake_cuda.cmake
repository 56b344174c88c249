# The emulated GPU: fake_cuda/libcuda.so.1 in the build folder stands in for the CUDA driver and runs the kernels of
# src/back/cuda on this processor. Programs find it with LD_LIBRARY_PATH=<build>/fake_cuda.
include(CheckLanguage)
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX}) # prefer a C++ compiler of the C compiler's family
  get_filename_component(c_folder ${CMAKE_C_COMPILER} DIRECTORY)
  get_filename_component(c_name ${CMAKE_C_COMPILER} NAME)
  string(REGEX REPLACE "clang" "clang++" cxx_name ${c_name})
  string(REGEX REPLACE "gcc|^cc" "g++" cxx_name ${cxx_name})
  find_program(VOLTA_CXX ${cxx_name} HINTS ${c_folder})
  if(VOLTA_CXX)
    set(CMAKE_CXX_COMPILER ${VOLTA_CXX})
  endif()
endif()
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(STATUS "No C++ compiler: the emulated GPU is not built (target fake_cuda)")
  return()
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2" CACHE STRING "As for C")
enable_language(CXX)
if(VOLTA_SANITIZE AND (NOT VOLTA_SANITIZE MATCHES "address"
    OR NOT CMAKE_CXX_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID))
  message(STATUS "The emulated GPU is not built: with a sanitizer it needs `address` and a C++ compiler of the C compiler's family")
  return()
endif()

file(GLOB fake_cuda_driver CONFIGURE_DEPENDS tests/fake_cuda/*.cc)
list(FILTER fake_cuda_driver EXCLUDE REGEX "_test\\.cc$|/fake_nvrtc\\.cc$")
file(GLOB fake_cuda_kernels CONFIGURE_DEPENDS src/back/cuda/*.cu tests/cuda_violations/*.cu)
set(fake_cuda_flags -std=c++17 -ffp-contract=off -fno-math-errno -fvisibility=hidden -Wall
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
# If a kernel does something undefined in C++, its launch ends with an error (kernel_faults.cc).
set(fake_cuda_kernel_flags ${fake_cuda_flags} -fno-strict-aliasing -fwrapv -Wno-unknown-pragmas
  -Wno-unused-function -Wno-unused-const-variable
  -fsanitize=alignment,bounds,shift-exponent,float-cast-overflow,integer-divide-by-zero)
if(VOLTA_SANITIZE)
  list(FILTER fake_cuda_driver EXCLUDE REGEX "kernel_faults\\.cc$")
endif()

# The kernels run on the machine that builds them, so they use its fma instruction if there is one.
include(CheckCXXSourceRuns)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  check_cxx_source_runs("int main() { return !(__builtin_cpu_supports(\"fma\") && __builtin_cpu_supports(\"avx2\")); }"
    VOLTA_HOST_HAS_FMA)
endif()
if(VOLTA_HOST_HAS_FMA)
  list(APPEND fake_cuda_kernel_flags -mfma)
endif()

# The emulator keeps shared memory of kernels in thread-local memory. It is too large for the static TLS area, which the
# faster TLS models would need in a library that is loaded at run time.
list(APPEND fake_cuda_flags -ftls-model=global-dynamic)
list(APPEND fake_cuda_kernel_flags -ftls-model=global-dynamic)

set_source_files_properties(${fake_cuda_kernels} PROPERTIES LANGUAGE CXX)
add_library(fake_cuda_kernels OBJECT ${fake_cuda_kernels})
target_compile_options(fake_cuda_kernels PRIVATE -x c++ ${fake_cuda_kernel_flags})
add_library(fake_cuda_driver OBJECT ${fake_cuda_driver})
target_compile_options(fake_cuda_driver PRIVATE ${fake_cuda_flags} -Wextra $<$<BOOL:${VOLTA_WERROR}>:-Werror>)
add_library(fake_cuda SHARED $<TARGET_OBJECTS:fake_cuda_driver> $<TARGET_OBJECTS:fake_cuda_kernels>)
set_target_properties(fake_cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1 LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake_cuda)

# Builds the unit tests of the emulated driver, which have kernels of their own.
set(fake_cuda_tests)
file(GLOB fake_cuda_test_sources CONFIGURE_DEPENDS tests/fake_cuda/*_test.cc)
foreach(source ${fake_cuda_test_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source} $<TARGET_OBJECTS:fake_cuda_driver>)
  target_compile_options(${name} PRIVATE ${fake_cuda_kernel_flags} -Wextra $<$<BOOL:${VOLTA_WERROR}>:-Werror>)
  target_include_directories(${name} PRIVATE tests)
  target_link_libraries(${name} PRIVATE Threads::Threads)
  add_test(NAME fake_cuda/${name} COMMAND ${name})
  set_tests_properties(fake_cuda/${name} PROPERTIES LABELS unit)
  list(APPEND fake_cuda_tests ${name})
endforeach()

foreach(target fake_cuda_kernels fake_cuda_driver fake_cuda ${fake_cuda_tests})
  target_include_directories(${target} PRIVATE tests/fake_cuda src/back/cuda src/emit src/num src/base src/op
    include ${GENERATED} include/volta ${GENERATED}/volta)
  add_dependencies(${target} volta_ops_h)
  if(VOLTA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${VOLTA_SANITIZE} -fno-sanitize=vptr $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>
      -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_link_options(${target} PRIVATE -fsanitize=${VOLTA_SANITIZE})
  endif()
endforeach()
target_link_libraries(fake_cuda PRIVATE Threads::Threads ${CMAKE_DL_LIBS})

# The fake NVRTC compiles texts with this C++ compiler while a test runs, if the variable FAKE_NVRTC asks for it. -O1
# balances the time of compiling and of running: cuda_epilogue_test takes half as long as with -O0.
set(fake_nvrtc_flags ${fake_cuda_kernel_flags} -O1)
list(FILTER fake_nvrtc_flags EXCLUDE REGEX "^-(Wall|ffile-prefix-map.*)$")
string(REPLACE ";" " " fake_nvrtc_flags "${fake_nvrtc_flags}")
add_library(fake_nvrtc SHARED tests/fake_cuda/fake_nvrtc.cc)
target_compile_options(fake_nvrtc PRIVATE -std=c++17 -fvisibility=hidden -Wall -Wextra $<$<BOOL:${VOLTA_WERROR}>:-Werror>)
target_compile_definitions(fake_nvrtc PRIVATE FAKE_NVRTC_COMPILER="${CMAKE_CXX_COMPILER}"
  "FAKE_NVRTC_FLAGS=\"${fake_nvrtc_flags}\"" FAKE_NVRTC_WORDS="${CMAKE_SOURCE_DIR}/tests/fake_cuda"
  FAKE_NVRTC_DRIVER="${CMAKE_BINARY_DIR}/fake_cuda/libcuda.so.1")
target_include_directories(fake_nvrtc PRIVATE tests/fake_cuda src/back/cuda)
set_target_properties(fake_nvrtc PROPERTIES OUTPUT_NAME nvrtc SOVERSION 13
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake_cuda)
add_dependencies(fake_cuda fake_nvrtc)

# The tests of the CUDA backend use the emulated driver, except cuda_images_test, which uses this machine's NVRTC.
file(GLOB cuda_test_sources CONFIGURE_DEPENDS src/back/cuda/*_test.c)
list(FILTER cuda_test_sources EXCLUDE REGEX "/cuda_images_test\\.c$")
foreach(source ${cuda_test_sources})
  get_filename_component(name ${source} NAME_WE)
  add_dependencies(${name} fake_cuda)
  set_property(TEST unit/${name} APPEND PROPERTY ENVIRONMENT LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/fake_cuda)
endforeach()

# These compare all backends, so they run on the emulated GPU too.
foreach(name layout_test decode_test)
  add_dependencies(${name} fake_cuda)
  set_property(TEST unit/${name} APPEND PROPERTY ENVIRONMENT LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/fake_cuda)
endforeach()
