# Tests of admission: the built-in backends pass, and no code that compares results has a tolerance.
# Needs script_test of tests.cmake.
foreach(backend reference island island:1)
  string(REPLACE ":" "_" name ${backend})
  script_test(admit/${name} admit ${CMAKE_SOURCE_DIR}/tests/admit/admit_check.sh $<TARGET_FILE:volta> ${backend})
  set_tests_properties(admit/${name} PROPERTIES PROCESSORS 2 TIMEOUT 1800)
endforeach()
long_only(admit/island admit/island_1)
script_test(admit/no_epsilon tools python3 -B ${CMAKE_SOURCE_DIR}/tests/check_no_epsilon.py)
script_test(admit/no_epsilon_catches tools python3 -B ${CMAKE_SOURCE_DIR}/tests/check_no_epsilon.py --self-check)
