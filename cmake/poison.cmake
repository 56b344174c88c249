# Tests of tests: faults planted in a copy of the sources must be noticed. Needs script_test.
script_test(build/poisoned_comps_caught build ${CMAKE_SOURCE_DIR}/tests/poison_comps.sh)
# It builds on two cores.
set_tests_properties(build/poisoned_comps_caught PROPERTIES PROCESSORS 2 TIMEOUT 900)
