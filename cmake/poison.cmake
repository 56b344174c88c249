# A test of the tests: faults planted in a copy of the sources must be noticed. Needs script_test of tests.cmake.
if(NOT VOLTA_SANITIZE)
  script_test(build/poisoned_comps_caught build ${CMAKE_SOURCE_DIR}/tests/poison_comps.sh ${CMAKE_C_COMPILER}
    ${CMAKE_BINARY_DIR} ${VOLTA_sodium_LIB} ${VOLTA_z_LIB})
  set_tests_properties(build/poisoned_comps_caught PROPERTIES TIMEOUT 900)
endif()
