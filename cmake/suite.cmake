# Embeds the conformance suite and the examples in the library, so that an installed volta can admit backends without
# the source tree.
add_executable(pack_suite tools/pack_suite.c)
target_link_libraries(pack_suite PRIVATE vt_base PkgVolta::z vt_flags)
file(GLOB suite_files CONFIGURE_DEPENDS tests/cts/*.cts examples/*.vt)
list(SORT suite_files)
set(suite_digests ${CMAKE_SOURCE_DIR}/tests/cts/cts.digests)
list(APPEND suite_files ${CMAKE_SOURCE_DIR}/examples/published.digests)
add_custom_command(OUTPUT ${GENERATED}/suite_image.inc ${GENERATED}/suite_digest.inc
  COMMAND pack_suite ${CMAKE_BINARY_DIR}/suite.image ${CMAKE_BINARY_DIR}/suite.digest ${suite_digests} ${suite_files}
  COMMAND embed < ${CMAKE_BINARY_DIR}/suite.image > ${GENERATED}/suite_image.inc
  COMMAND embed < ${CMAKE_BINARY_DIR}/suite.digest > ${GENERATED}/suite_digest.inc
  DEPENDS pack_suite embed ${suite_digests} ${suite_files})
add_custom_target(suite_image DEPENDS ${GENERATED}/suite_image.inc ${GENERATED}/suite_digest.inc)
add_dependencies(vt_admit suite_image)
add_dependencies(vt_api suite_image) # certificates contain the digest of the suite
