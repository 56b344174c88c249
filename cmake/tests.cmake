# Unit tests: each src/*/*_test.c is a program, linked with its room. The thread sanitizer runs the tests of rooms that
# start threads. It leaves out the CUDA backend, because the emulator of GPU kernels switches stacks itself.
function(room_tests room folder)
  set(labels unit)
  if(room MATCHES "^(base|back_cpu|back_island|gate|api|admit)$")
    list(APPEND labels threads)
  endif()
  file(GLOB tests CONFIGURE_DEPENDS src/${folder}/*_test.c)
  foreach(source ${tests})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE tests)
    target_link_libraries(${name} PRIVATE vt_${room} ${ARGN} vt_flags m) # only tests may use m
    add_test(NAME unit/${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(unit/${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77)
  endforeach()
endfunction()

room_tests(base base)
room_tests(num num)
room_tests(op op)
room_tests(ir ir)
room_tests(front front)
room_tests(pass pass vt_api) # its tests parse models and run constants
room_tests(plan plan)
room_tests(emit emit)
room_tests(back_null back/null)
room_tests(back_reference back/reference)
room_tests(back_island back/island)
room_tests(back_cpu back/cpu)
room_tests(back_cuda back/cuda)
room_tests(gate gate)
room_tests(api api)
room_tests(admit admit)

# `make exhaustive` tests every function on all 2^32 inputs, and pow. The test num/exhaustive_catches shows that these
# programs can fail, and num/pow_short runs a few seconds of pow.
find_library(VOLTA_MPFR mpfr)
find_library(VOLTA_GMP gmp)
find_path(VOLTA_MPFR_INCLUDE mpfr.h)
if(VOLTA_MPFR AND VOLTA_GMP AND VOLTA_MPFR_INCLUDE)
  add_executable(exhaustive tests/exhaustive/exhaustive.c tests/exhaustive/crew.c)
  add_executable(exhaustive_pow tests/exhaustive/pow_check.c tests/exhaustive/crew.c)
  foreach(checker exhaustive exhaustive_pow)
    target_link_libraries(${checker} PRIVATE vt_num ${VOLTA_MPFR} ${VOLTA_GMP} m vt_flags)
    target_include_directories(${checker} SYSTEM PRIVATE ${VOLTA_MPFR_INCLUDE})
  endforeach()
  add_test(NAME num/exhaustive_catches COMMAND
    ${CMAKE_SOURCE_DIR}/tests/exhaustive/catches.sh $<TARGET_FILE:exhaustive>
    $<TARGET_FILE:exhaustive_pow> ${CMAKE_SOURCE_DIR}/src/num/exhaustive.digests)
  add_test(NAME num/pow_short COMMAND
    exhaustive_pow --short --fresh --jobs 2 --state ${CMAKE_BINARY_DIR}/pow_short.state)
else()
  foreach(name num/exhaustive_catches num/pow_short)
    add_test(NAME ${name} COMMAND sh -c "echo 'SKIPPED: libmpfr-dev is not installed' && exit 77")
  endforeach()
endif()
set_tests_properties(num/exhaustive_catches num/pow_short PROPERTIES LABELS num SKIP_RETURN_CODE 77)

# exhaustive_backend compares a backend with the digests of `make exhaustive`: one slice of each function in the tests,
# all slices by hand.
add_executable(exhaustive_backend tests/exhaustive/exhaustive_backend.c)
target_link_libraries(exhaustive_backend PRIVATE vt_api vt_flags)
set(backend_slices exhaustive_backend --against ${CMAKE_SOURCE_DIR}/src/num/exhaustive.digests --jobs 1)
add_test(NAME num/backend_slices COMMAND ${backend_slices} --slices 63..63)
add_test(NAME num/backend_slices_catch COMMAND ${backend_slices} --slices 63..63 --func exp --plant)
set_tests_properties(num/backend_slices num/backend_slices_catch PROPERTIES LABELS num)
set_tests_properties(num/backend_slices_catch PROPERTIES PASS_REGULAR_EXPRESSION "FAILED exp: slice 63")

# Tests that use MPFR as oracle; they are skipped if it is not installed.
if(VOLTA_MPFR AND VOLTA_GMP AND VOLTA_MPFR_INCLUDE)
  foreach(name oracle_exp_test oracle_hyp_test oracle_log_test oracle_trig_test oracle_pow_test)
    target_compile_definitions(${name} PRIVATE VOLTA_HAVE_MPFR)
    target_include_directories(${name} SYSTEM PRIVATE ${VOLTA_MPFR_INCLUDE})
    target_link_libraries(${name} PRIVATE ${VOLTA_MPFR} ${VOLTA_GMP})
  endforeach()
  add_executable(find_hard tools/num/find_hard.c) # run by hand; it writes src/num/edges.def and hard.def
  target_include_directories(find_hard SYSTEM PRIVATE ${VOLTA_MPFR_INCLUDE})
  target_link_libraries(find_hard PRIVATE ${VOLTA_MPFR} ${VOLTA_GMP} m vt_flags)
endif()

# GCC warns that vectors wider than the registers are passed in memory (psabi); these tests pass them only within one
# object file. clang warns of a change of sign if a scalar operand is combined with a vector. The tests of avx2 and
# avx512 check at run time that the processor has them.
set_source_files_properties(src/num/lanes4_test.c src/num/lanes8_test.c
  src/num/lanes4_avx2_test.c src/num/lanes8_avx512_test.c
  PROPERTIES COMPILE_OPTIONS "-Wno-psabi;-Wno-sign-conversion")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  target_compile_options(lanes4_avx2_test PRIVATE -mavx2 -mfma)
  target_compile_options(lanes8_avx512_test PRIVATE -mavx512f)
endif()

# script_test(<name> <label> <command>): adds a test that is a script; exit code 77 means skipped.
function(script_test name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
endfunction()

# long_only(<test>...): leaves these tests to `make test-full`. They are slow tests of other tests, tests that build the
# project again, and the admission of the island backend, whose cases `make test` runs in the suite.
function(long_only)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS long)
  endforeach()
endfunction()
long_only(docs/sync_catches num/exhaustive_catches)

script_test(tools/layers tools python3 -B tools/check_layers.py)
script_test(tools/sizes tools python3 -B tools/check_sizes.py)
script_test(tools/format tools ${CMAKE_SOURCE_DIR}/tools/check_format.sh)
script_test(tools/words tools python3 -B tools/check_words.py)
script_test(tools/checks_catch tools python3 -B tests/tools_test/checks_catch.py)
script_test(tools/gen_ops_refuses tools ${CMAKE_SOURCE_DIR}/tests/tools_test/gen_ops_refuses.sh ${CMAKE_C_COMPILER})
script_test(tools/setup_asks tools python3 -B tests/tools_test/setup_asks.py)
script_test(tools/kernels_shared tools python3 -B tests/tools_test/kernels_shared.py)
script_test(tools/gpu_owed tools python3 -B tests/tools_test/gpu_owed.py)
script_test(num/tables_match num ${VOLTA_PYTHON} -B tests/tools_test/tables_match.py)
script_test(num/device_compiles num ${CMAKE_SOURCE_DIR}/tests/device/compiles.sh 75 90)
script_test(num/philox_page num python3 -B src/num/philox_page_test.py $<TARGET_FILE:philox_test>)
if(NOT VOLTA_SANITIZE)
  script_test(num/faults num ${CMAKE_SOURCE_DIR}/tests/faults/faults.sh ${CMAKE_C_COMPILER}
    $<TARGET_FILE:vt_base> ${GENERATED} ${VOLTA_sodium_LIB})
  long_only(num/faults)
endif()
script_test(build/fast_math_refused build ${CMAKE_SOURCE_DIR}/scripts/check_fast_math.sh)
script_test(build/same_bits_any_compiler build ${CMAKE_SOURCE_DIR}/scripts/check_builds.sh ${CMAKE_BINARY_DIR}/variants
  $<TARGET_FILE:volta>)
# The test runs alone, because it builds several times on all cores.
set_tests_properties(build/same_bits_any_compiler PROPERTIES RUN_SERIAL ON TIMEOUT 1800)
long_only(build/same_bits_any_compiler docs/adding_op_built)

# Adds the audit of the compiled kernels and the test of this audit.
if(cuda_archs)
  script_test(tools/ptx tools python3 -B tools/check_ptx.py --cc ${CMAKE_C_COMPILER}
    --table src/back/cuda/kernels.def --include src/emit ${cuda_audited})
  script_test(tools/ptx_catch tools python3 -B tests/tools_test/ptx_catch.py ${VOLTA_NVCC})
else()
  script_test(tools/ptx tools sh -c "echo 'SKIPPED: this build has no kernels for CUDA' && exit 77")
  script_test(tools/ptx_catch tools python3 -B tests/tools_test/ptx_catch.py)
endif()
# Adds the audit of generated kernels, which NVRTC compiles at run time: for the highest of these architectures, and
# with --full for the lowest as well.
set(fused_archs 80 90)
if(cuda_archs)
  list(GET cuda_archs 0 fused_lowest)
  list(GET cuda_archs -1 fused_highest)
  set(fused_archs ${fused_lowest} ${fused_highest})
  list(REMOVE_DUPLICATES fused_archs)
endif()
add_executable(fused_ptx tests/device/fused_ptx.c)
target_include_directories(fused_ptx PRIVATE tests)
target_link_libraries(fused_ptx PRIVATE vt_back_cuda vt_flags)
script_test(tools/fused_ptx tools ${CMAKE_SOURCE_DIR}/tests/device/fused_audit.sh $<TARGET_FILE:fused_ptx>
  ${fused_archs})
