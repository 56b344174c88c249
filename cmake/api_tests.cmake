# Scripts that look at what was built: one way to run anything, the same bytes in every process.
script_test(build/one_truth_path build ${CMAKE_SOURCE_DIR}/tests/check_truth_path.sh
  ${CMAKE_BINARY_DIR})
script_test(build/same_in_every_process build ${CMAKE_SOURCE_DIR}/tests/check_same_process.sh
  $<TARGET_FILE:volta>)
