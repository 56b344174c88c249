# Tests of the pages: the commands that they show are run, and their lists and tables are compared with the program.
if(VOLTA_TESTS)
  set(docs_sync python3 -B ${CMAKE_SOURCE_DIR}/tests/docs_sync.py $<TARGET_FILE:volta>)
  add_test(NAME docs/sync COMMAND ${docs_sync} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  add_test(NAME docs/sync_catches COMMAND ${docs_sync} --self-check
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(docs/sync PROPERTIES LABELS corpus)
  set_tests_properties(docs/sync_catches PROPERTIES LABELS tools) # one compiler is enough: it tests Python code
  set(docs_adding_op python3 -B ${CMAKE_SOURCE_DIR}/tests/docs_adding_op.py --cc ${CMAKE_C_COMPILER})
  add_test(NAME docs/adding_op COMMAND ${docs_adding_op})
  add_test(NAME docs/adding_op_built COMMAND ${docs_adding_op} --build)
  set_tests_properties(docs/adding_op PROPERTIES LABELS tools)
  set_tests_properties(docs/adding_op_built PROPERTIES LABELS build PROCESSORS 2 TIMEOUT 1800)
endif()
