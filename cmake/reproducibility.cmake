# Tests that results have the same bits alone and in a batch, in another run or process, with other thread counts, and
# after saving and loading. The tests *_catches show that each check fails if reference:1 is wrong in one bit.
add_executable(batch_check tests/reproducibility/batch_check.c tests/reproducibility/batch_run.c)
add_executable(again_check tests/reproducibility/again_check.c)
add_executable(batch_diverging tests/reproducibility/batch_check.c
  tests/reproducibility/batch_run.c tests/cli/diverge.c)
add_executable(again_diverging tests/reproducibility/again_check.c tests/cli/diverge.c)
foreach(check batch again)
  foreach(kind check diverging)
    target_link_libraries(${check}_${kind} PRIVATE vt_include vt_admit vt_flags)
    target_include_directories(${check}_${kind} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  endforeach()
  target_link_options(${check}_diverging PRIVATE
    -Wl,--wrap=vt_program_run -Wl,--wrap=vt_program_output -Wl,--wrap=vt_program_digest)
  script_test(reproducibility/${check} reproducibility
    ${CMAKE_SOURCE_DIR}/tests/reproducibility/lanes.sh $<TARGET_FILE:volta>
    $<TARGET_FILE:${check}_check>)
  # The short form is enough to show that the check fails.
  add_test(NAME reproducibility/${check}_catches COMMAND ${CMAKE_COMMAND} -E env --unset=VOLTA_TEST_FULL
    $<TARGET_FILE:${check}_diverging> ${CMAKE_SOURCE_DIR} reference:1)
  set_tests_properties(reproducibility/${check} reproducibility/${check}_catches
    PROPERTIES LABELS reproducibility TIMEOUT 3600)
endforeach()
set_tests_properties(reproducibility/batch_catches PROPERTIES
  PASS_REGULAR_EXPRESSION "FAILED mlp: a row is not the reference's")
set_tests_properties(reproducibility/again_catches PROPERTIES
  PASS_REGULAR_EXPRESSION "FAILED mlp: the reference gives something else")

set(reproduce python3 -B ${CMAKE_SOURCE_DIR}/tests/reproducibility/reproduce.py
  --volta $<TARGET_FILE:volta>)
script_test(reproducibility/ways reproducibility ${reproduce})
script_test(reproducibility/ways_catch reproducibility ${reproduce} --catches)
long_only(reproducibility/ways_catch reproducibility/batch_catches)
