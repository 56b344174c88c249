# Tests of the built files: all runs go through the same functions, and every process prints the same bytes.
script_test(build/one_truth_path build ${CMAKE_SOURCE_DIR}/tests/check_truth_path.sh
  ${CMAKE_BINARY_DIR})
script_test(build/same_in_every_process build ${CMAKE_SOURCE_DIR}/tests/check_same_process.sh
  $<TARGET_FILE:volta>)

# Tests of libvolta: its exported names, the libraries that it needs, and programs that use an installation.
script_test(build/exports_catch build python3 -B tests/check_exports.py --self-check)
if(TARGET volta_shared)
  script_test(build/exports build python3 -B tests/check_exports.py ${CMAKE_BINARY_DIR})
  script_test(build/installed build ${CMAKE_SOURCE_DIR}/tests/check_installed.sh ${CMAKE_BINARY_DIR})
endif()

# The thread sanitizer runs it, too.
script_test(build/serve threads ${CMAKE_SOURCE_DIR}/tests/check_serve.sh $<TARGET_FILE:volta>
  $<TARGET_FILE:example_serve>)
