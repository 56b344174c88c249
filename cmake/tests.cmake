# A *_test.c beside its source is a program of its own, linked with its room.
function(room_tests room folder)
  file(GLOB tests CONFIGURE_DEPENDS src/${folder}/*_test.c)
  foreach(source ${tests})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE tests)
    target_link_libraries(${name} PRIVATE vt_${room} ${ARGN} vt_flags m) # m: for tests alone
    add_test(NAME unit/${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(unit/${name} PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
  endforeach()
endfunction()

room_tests(base base)
room_tests(num num)
room_tests(op op)
room_tests(ir ir)
room_tests(front front)
room_tests(pass pass)
room_tests(plan plan)
room_tests(back_null back/null)
room_tests(back_reference back/reference)
room_tests(gate gate)
room_tests(api api)

# Every function on all 2^32 inputs; `make exhaustive` runs it. A test sees that it can fail.
find_library(VOLTA_MPFR mpfr)
find_library(VOLTA_GMP gmp)
find_path(VOLTA_MPFR_INCLUDE mpfr.h)
if(VOLTA_MPFR AND VOLTA_GMP AND VOLTA_MPFR_INCLUDE)
  add_executable(exhaustive tests/exhaustive/exhaustive.c)
  target_link_libraries(exhaustive PRIVATE vt_num ${VOLTA_MPFR} ${VOLTA_GMP} m vt_flags)
  add_test(NAME num/exhaustive_catches COMMAND
    ${CMAKE_SOURCE_DIR}/tests/exhaustive/catches.sh $<TARGET_FILE:exhaustive>)
  set_tests_properties(num/exhaustive_catches PROPERTIES LABELS num)
endif()

# script_test(<name> <label> <command>): a script that looks at the sources or builds by itself.
function(script_test name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
endfunction()

script_test(tools/layers tools python3 -B tools/check_layers.py)
script_test(tools/sizes tools python3 -B tools/check_sizes.py)
script_test(tools/format tools ${CMAKE_SOURCE_DIR}/tools/check_format.sh)
script_test(tools/checks_catch tools python3 -B tests/tools_test/checks_catch.py)
script_test(tools/setup_asks tools python3 -B tests/tools_test/setup_asks.py)
script_test(build/fast_math_refused build ${CMAKE_SOURCE_DIR}/scripts/check_fast_math.sh)
script_test(build/same_bits_any_compiler build ${CMAKE_SOURCE_DIR}/scripts/check_builds.sh ${CMAKE_BINARY_DIR}/variants)
# It builds on every core, and several times.
set_tests_properties(build/same_bits_any_compiler PROPERTIES RUN_SERIAL ON TIMEOUT 1800)
