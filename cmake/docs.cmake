# The pages against the program: what they show is run, what they list is compared.
if(VOLTA_TESTS)
  set(docs_sync python3 -B ${CMAKE_SOURCE_DIR}/tests/docs_sync.py $<TARGET_FILE:volta>)
  add_test(NAME docs/sync COMMAND ${docs_sync} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  add_test(NAME docs/sync_catches COMMAND ${docs_sync} --self-check
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(docs/sync PROPERTIES LABELS corpus)
  set_tests_properties(docs/sync_catches PROPERTIES LABELS tools) # no compiler can change it
endif()
