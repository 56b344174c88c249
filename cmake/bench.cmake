# `make bench`: the cost of a call of each function. It is not built by default and is not a test.
find_library(VOLTA_SLEEF sleef)
find_path(VOLTA_SLEEF_INCLUDE sleef.h)
add_executable(bench_num EXCLUDE_FROM_ALL bench/num/bench_num.c)
target_compile_definitions(bench_num PRIVATE
  VOLTA_BENCH_COMPILER="${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
target_link_libraries(bench_num PRIVATE vt_num m ${CMAKE_DL_LIBS} vt_flags)
if(VOLTA_SLEEF AND VOLTA_SLEEF_INCLUDE)
  target_compile_definitions(bench_num PRIVATE VOLTA_BENCH_SLEEF)
  target_include_directories(bench_num SYSTEM PRIVATE ${VOLTA_SLEEF_INCLUDE})
  target_link_libraries(bench_num PRIVATE ${VOLTA_SLEEF})
endif()
add_custom_target(bench-num COMMAND bench_num USES_TERMINAL)

# `make bench-plan` measures the time of passes and planning. The test is part of `make test-full` only.
add_executable(bench_plan EXCLUDE_FROM_ALL bench/plan/bench_plan.c bench/plan/bench_graphs.c)
target_link_libraries(bench_plan PRIVATE vt_pass vt_plan m vt_flags)
add_custom_target(bench-plan COMMAND bench_plan USES_TERMINAL)
if(VOLTA_TESTS)
  set_target_properties(bench_plan PROPERTIES EXCLUDE_FROM_ALL OFF)
  add_test(NAME bench/plan_time COMMAND bench_plan --check)
  set_tests_properties(bench/plan_time PROPERTIES LABELS "bench;long" SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endif()

# This test runs a model of 100,000 nodes and limits its time and memory. Builds with sanitizers leave it out, because
# sanitizers need more of both.
set(run_nodes python3 -B ${CMAKE_SOURCE_DIR}/bench/plan/run_nodes.py --volta $<TARGET_FILE:volta>)
if(VOLTA_TESTS AND NOT VOLTA_SANITIZE)
  add_test(NAME bench/run_nodes COMMAND ${run_nodes} --check)
  add_test(NAME bench/run_nodes_catch COMMAND ${run_nodes} --self-check)
  set_tests_properties(bench/run_nodes bench/run_nodes_catch PROPERTIES LABELS bench)
endif()

# This test compares the memory of plans with the stored numbers, which `make baselines` updates.
set(memory_baselines python3 -B ${CMAKE_SOURCE_DIR}/bench/baselines/memory.py
  --volta $<TARGET_FILE:volta>)
add_custom_target(baselines COMMAND ${memory_baselines} --write DEPENDS volta)
if(VOLTA_TESTS)
  add_test(NAME bench/memory_baselines COMMAND ${memory_baselines})
  add_test(NAME bench/memory_baselines_catch COMMAND ${memory_baselines} --self-check)
  set_tests_properties(bench/memory_baselines bench/memory_baselines_catch PROPERTIES LABELS bench)
endif()

# This test runs `volta bench` at its smallest sizes against stand-ins for OpenBLAS: two with the function names of its
# two kinds of builds (32-bit and 64-bit integers), and one whose products are wrong.
if(VOLTA_TESTS)
  foreach(peer narrow wide wrong)
    add_library(peer_${peer} MODULE tests/bench/peer_stub.c)
    set_target_properties(peer_${peer} PROPERTIES PREFIX ""
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/peers)
    target_compile_options(peer_${peer} PRIVATE -O2 -Wall -Wextra -fvisibility=hidden
      $<$<BOOL:${VOLTA_WERROR}>:-Werror>)
  endforeach()
  target_compile_definitions(peer_wide PRIVATE PEER_WIDE)
  target_compile_definitions(peer_wrong PRIVATE PEER_WRONG)
  add_test(NAME bench/verb COMMAND python3 -B ${CMAKE_SOURCE_DIR}/tests/bench/check_bench.py
    --volta $<TARGET_FILE:volta> --diverging $<TARGET_FILE:volta_diverging>
    --peers ${CMAKE_BINARY_DIR}/peers WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(bench/verb PROPERTIES LABELS bench)
endif()

# This test compares the tables of docs/governance/performance.md with the stored results that they are made from;
# bench/cpu_table.sh measures those again.
if(VOLTA_TESTS)
  add_test(NAME bench/performance_page COMMAND python3 -B ${CMAKE_SOURCE_DIR}/bench/cpu/table.py check)
  add_test(NAME bench/performance_page_catch
    COMMAND python3 -B ${CMAKE_SOURCE_DIR}/bench/cpu/table.py self-check)
  set_tests_properties(bench/performance_page bench/performance_page_catch PROPERTIES LABELS tools)
endif()
