# A driver of CUDA without a GPU: libcuda.so.1 in fake_cuda/ of the build folder, which runs the kernels of
# src/back/cuda on this processor. LD_LIBRARY_PATH=<build>/fake_cuda makes it the driver that is found.
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(STATUS "No C++ compiler: kernels are not run without a GPU (target fake_cuda)")
  return()
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2" CACHE STRING "As for C")
enable_language(CXX)

file(GLOB fake_cuda_driver CONFIGURE_DEPENDS tests/fake_cuda/*.cc)
list(FILTER fake_cuda_driver EXCLUDE REGEX "_test\\.cc$")
file(GLOB fake_cuda_kernels CONFIGURE_DEPENDS src/back/cuda/*.cu)
set(fake_cuda_flags -std=c++17 -ffp-contract=off -fno-math-errno -fvisibility=hidden -Wall -Wextra
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
# What a kernel does that C++ leaves undefined ends its launch with an error (kernel_faults.cc).
set(fake_cuda_kernel_flags ${fake_cuda_flags} -fno-strict-aliasing -fwrapv -Wno-unknown-pragmas
  -Wno-unused-function -Wno-unused-const-variable
  -fsanitize=alignment,bounds,shift-exponent,float-cast-overflow,integer-divide-by-zero)
if(VOLTA_SANITIZE)
  list(FILTER fake_cuda_driver EXCLUDE REGEX "kernel_faults\\.cc$")
endif()

# It runs where it was built: with the processor's own fma, where it has one.
include(CheckCXXSourceRuns)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  check_cxx_source_runs("int main() { return !(__builtin_cpu_supports(\"fma\") && __builtin_cpu_supports(\"avx2\")); }"
    VOLTA_HOST_HAS_FMA)
endif()
if(VOLTA_HOST_HAS_FMA)
  list(APPEND fake_cuda_kernel_flags -mfma)
endif()

set_source_files_properties(${fake_cuda_kernels} PROPERTIES LANGUAGE CXX)
add_library(fake_cuda_kernels OBJECT ${fake_cuda_kernels})
target_compile_options(fake_cuda_kernels PRIVATE -x c++ ${fake_cuda_kernel_flags})
add_library(fake_cuda_driver OBJECT ${fake_cuda_driver})
target_compile_options(fake_cuda_driver PRIVATE ${fake_cuda_flags} $<$<BOOL:${VOLTA_WERROR}>:-Werror>)
add_library(fake_cuda SHARED $<TARGET_OBJECTS:fake_cuda_driver> $<TARGET_OBJECTS:fake_cuda_kernels>)
set_target_properties(fake_cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1 LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake_cuda)
foreach(target fake_cuda_kernels fake_cuda_driver fake_cuda)
  target_include_directories(${target} PRIVATE tests/fake_cuda src/back/cuda src/num src/base src/op
    include ${GENERATED} include/volta ${GENERATED}/volta)
  add_dependencies(${target} volta_ops_h)
  if(VOLTA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${VOLTA_SANITIZE} -fno-sanitize-recover=all -g)
    target_link_options(${target} PRIVATE -fsanitize=${VOLTA_SANITIZE})
  endif()
endforeach()
target_link_libraries(fake_cuda PRIVATE Threads::Threads)
