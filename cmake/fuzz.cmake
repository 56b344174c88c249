# Fuzz targets: tests/fuzz/fuzz_<name>.c. Each is built as a program that replays the stored inputs, so that faults
# found once stay fixed, and with VOLTA_FUZZ (clang only; `make fuzz`) as a fuzzer.
option(VOLTA_FUZZ "Build the fuzzers" OFF)

# The fuzzer learns from comparisons with the bytes of its input. These rooms do not compare input bytes, so their
# comparisons are not traced.
if(VOLTA_FUZZ)
  foreach(room num pass plan gate back_null back_reference api)
    target_compile_options(vt_${room} PRIVATE -fno-sanitize-coverage=trace-cmp)
  endforeach()
endif()

# fuzz_target(<name> <room> [files]): builds fuzz_<name>.c; the test replays its own corpus and these files.
function(fuzz_target name room)
  file(GLOB corpus CONFIGURE_DEPENDS tests/fuzz/corpus/${name}/*)
  file(GLOB parts CONFIGURE_DEPENDS tests/fuzz/${name}_*.c)
  add_executable(fuzz_${name}_replay tests/fuzz/fuzz_${name}.c ${parts} tests/fuzz/replay.c)
  target_link_libraries(fuzz_${name}_replay PRIVATE vt_${room} vt_flags)
  # The corpus of graphs is by far the largest, and a sanitizer makes its replay five times slower. The test replays all
  # of it only with --full.
  set(some "")
  if(name STREQUAL graph)
    set(some --every=3)
    if(VOLTA_SANITIZE)
      set(some --every=9)
    endif()
  endif()
  add_test(NAME corpus/${name} COMMAND fuzz_${name}_replay ${some} ${corpus} ${ARGN})
  set_tests_properties(corpus/${name} PROPERTIES LABELS corpus)
  if(VOLTA_FUZZ)
    add_executable(fuzz_${name} tests/fuzz/fuzz_${name}.c ${parts})
    target_link_libraries(fuzz_${name} PRIVATE vt_${room} vt_flags)
    # The fuzzers are copied to machines without a compiler, so they may need only libc. libstdc++ refers to arc4random,
    # which an older libc lacks; no code calls it, so any symbol may stand in for it.
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer -static-libstdc++ -static-libgcc
      LINKER:--defsym=arc4random=main)
  endif()
endfunction()

file(GLOB models CONFIGURE_DEPENDS tests/golden/*.vt tests/golden/old/*.vt examples/*.vt)
fuzz_target(parse front ${models})
fuzz_target(npy front ${CMAKE_SOURCE_DIR}/tests/golden/files/fortran.npy)
fuzz_target(npz front ${CMAKE_SOURCE_DIR}/tests/golden/files/stored.npz
  ${CMAKE_SOURCE_DIR}/tests/golden/files/deflated.npz)
fuzz_target(safetensors front)
fuzz_target(idx front ${CMAKE_SOURCE_DIR}/tests/golden/files/images.idx
  ${CMAKE_SOURCE_DIR}/tests/golden/files/images.idx.gz)
fuzz_target(csv front)
fuzz_target(json front)
fuzz_target(weight_index front)
fuzz_target(weight_map front)
fuzz_target(bundle front)
fuzz_target(graph api)
fuzz_target(plan api)
fuzz_target(plan_cache api)

# seed_graph converts models into inputs of fuzz_graph.
add_executable(seed_graph tests/fuzz/seed_graph.c tests/fuzz/graph_decode.c)
target_link_libraries(seed_graph PRIVATE vt_api vt_flags)
