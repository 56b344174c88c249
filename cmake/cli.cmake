# The command line: its generated pages, and tests that compare its output byte by byte.
add_executable(gen_cli_docs tools/gen_cli_docs.c src/cli/cli_table.c)
add_dependencies(gen_cli_docs volta_ops_h)
target_include_directories(gen_cli_docs PRIVATE src/cli)
target_link_libraries(gen_cli_docs PRIVATE vt_include vt_flags)

set(generated_docs python3 -B ${CMAKE_SOURCE_DIR}/tools/generated_docs.py
  --gen $<TARGET_FILE:gen_cli_docs> --volta $<TARGET_FILE:volta>)
add_custom_target(cli_docs COMMAND ${generated_docs} --write DEPENDS gen_cli_docs volta)

if(VOLTA_TESTS)
  # A volta whose device reference:1 is wrong in one bit, which tests of `volta parity` must notice.
  add_executable(volta_diverging src/cli/cli_main.c tests/cli/diverge.c)
  target_link_libraries(volta_diverging PRIVATE vt_cli)
  target_link_options(volta_diverging PRIVATE
    -Wl,--wrap=vt_program_run -Wl,--wrap=vt_program_output -Wl,--wrap=vt_program_digest)

  # A volta that counts the calls into its backends.
  add_executable(volta_counted src/cli/cli_main.c tests/cli/counted.c)
  target_include_directories(volta_counted PRIVATE tests src/api src/gate src/op src/num src/base)
  target_link_libraries(volta_counted PRIVATE vt_cli)
  add_test(NAME cli/counted COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/counted.sh $<TARGET_FILE:volta_counted>)
  set_tests_properties(cli/counted PROPERTIES LABELS corpus)

  add_executable(cli_text_test src/cli/cli_text_test.c)
  target_include_directories(cli_text_test PRIVATE tests)
  target_link_libraries(cli_text_test PRIVATE vt_cli)
  add_test(NAME unit/cli_text_test COMMAND cli_text_test)
  set_tests_properties(unit/cli_text_test PROPERTIES LABELS unit)

  add_test(NAME docs/cli_generated COMMAND ${generated_docs}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  add_test(NAME cli/exact COMMAND python3 -B ${CMAKE_SOURCE_DIR}/tests/cli/run_cli_tests.py
    --volta $<TARGET_FILE:volta> --diverging $<TARGET_FILE:volta_diverging>
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(docs/cli_generated cli/exact PROPERTIES LABELS corpus)
endif()
