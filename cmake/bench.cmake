# `make bench`: what a call of each function costs. Neither built by default nor a test.
find_library(VOLTA_SLEEF sleef)
find_path(VOLTA_SLEEF_INCLUDE sleef.h)
add_executable(bench_num EXCLUDE_FROM_ALL bench/num/bench_num.c)
target_compile_definitions(bench_num PRIVATE
  VOLTA_BENCH_COMPILER="${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
target_link_libraries(bench_num PRIVATE vt_num m vt_flags)
if(VOLTA_SLEEF AND VOLTA_SLEEF_INCLUDE)
  target_compile_definitions(bench_num PRIVATE VOLTA_BENCH_SLEEF)
  target_include_directories(bench_num SYSTEM PRIVATE ${VOLTA_SLEEF_INCLUDE})
  target_link_libraries(bench_num PRIVATE ${VOLTA_SLEEF})
endif()
add_custom_target(bench-num COMMAND bench_num USES_TERMINAL)
