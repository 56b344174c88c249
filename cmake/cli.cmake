# The command line: its generated pages, and tests of what it says to the byte.
find_package(Python3 COMPONENTS Interpreter REQUIRED)

add_executable(gen_cli_docs tools/gen_cli_docs.c src/cli/cli_table.c)
add_dependencies(gen_cli_docs volta_ops_h)
target_include_directories(gen_cli_docs PRIVATE src/cli)
target_link_libraries(gen_cli_docs PRIVATE vt_include vt_flags)

set(generated_docs ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/generated_docs.py
  --gen $<TARGET_FILE:gen_cli_docs> --volta $<TARGET_FILE:volta>)
add_custom_target(cli_docs COMMAND ${generated_docs} --write DEPENDS gen_cli_docs volta)

if(VOLTA_TESTS)
  # A volta whose second backend is wrong in one bit: parity must say so.
  add_executable(volta_diverging ${cli_sources} tests/cli/diverge.c)
  target_link_libraries(volta_diverging PRIVATE vt_include vt_api PkgVolta::jansson vt_flags)
  target_link_options(volta_diverging PRIVATE
    -Wl,--wrap=vt_program_output -Wl,--wrap=vt_program_digest)

  add_test(NAME docs/cli_generated COMMAND ${generated_docs}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  add_test(NAME cli/exact COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/cli/run_cli_tests.py
    --volta $<TARGET_FILE:volta> --diverging $<TARGET_FILE:volta_diverging>
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(docs/cli_generated cli/exact PROPERTIES LABELS corpus)
endif()
