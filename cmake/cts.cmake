# The conformance suite: tests/cts/*.cts on every backend, against stored digests.
file(GLOB cts_sources CONFIGURE_DEPENDS tests/cts/*.c)
list(FILTER cts_sources EXCLUDE REGEX "/lacking\\.c$")
add_executable(cts ${cts_sources})
target_link_libraries(cts PRIVATE vt_include vt_admit vt_flags)
target_include_directories(cts PRIVATE tests/cts)

# A cts whose device reference:1 is wrong in one bit, and for which this processor has no avx512. It must report both.
add_executable(cts_diverging ${cts_sources} tests/cli/diverge.c tests/cts/lacking.c)
target_link_libraries(cts_diverging PRIVATE vt_include vt_admit vt_flags)
target_include_directories(cts_diverging PRIVATE tests/cts)
target_link_options(cts_diverging PRIVATE
  -Wl,--wrap=vt_program_run -Wl,--wrap=vt_program_output -Wl,--wrap=vt_program_digest -Wl,--wrap=vt_op_supported_by)

# cts_test(<name> <label> <arguments>): adds the test cts/<name>. With --short=env it is short unless VOLTA_TEST_FULL is
# set.
function(cts_test name label)
  add_test(NAME cts/${name} COMMAND cts --cases ${CMAKE_SOURCE_DIR}/tests/cts ${ARGN})
  set_tests_properties(cts/${name} PROPERTIES LABELS ${label} TIMEOUT 1800)
endfunction()

cts_test(complete cts --complete --least 20000 --gradients-required)
cts_test(digests cts --short=env --jobs 2)
cts_test(layouts cts --short=env --jobs 2 --layouts)
cts_test(gradients cts --short=env --jobs 2 --grad)
# The island backend runs only the short form: its kernels are the reference's, only memory and layouts differ.
cts_test(island cts --short --jobs 2 --backend island:0,island:1)
set_tests_properties(cts/digests cts/layouts cts/gradients cts/island
  PROPERTIES PROCESSORS 2)
# Sanitizers run a part of each test.
cts_test(digests_part corpus --short --part 1/8 --jobs 1)
cts_test(layouts_part corpus --short --part 2/8 --jobs 1 --layouts)
cts_test(island_part corpus --short --part 4/8 --jobs 1 --backend island:0,island:1)
cts_test(gradients_part corpus --short --part 3/8 --jobs 1 --grad)
# Every compiler runs this test, because the order of nodes must not depend on the compiler.
cts_test(graphs corpus --graphs)

script_test(cts/cpu cts ${CMAKE_SOURCE_DIR}/tests/cts/cpu_lanes.sh $<TARGET_FILE:cts>)
set_tests_properties(cts/cpu PROPERTIES PROCESSORS 2 TIMEOUT 3600)
script_test(cts/catches cts ${CMAKE_SOURCE_DIR}/tests/cts/cts_catches.sh $<TARGET_FILE:cts>
  $<TARGET_FILE:cts_diverging> ${VOLTA_PYTHON})
script_test(cts/peers cts ${VOLTA_PYTHON} -B ${CMAKE_SOURCE_DIR}/tests/cts/peers.py --binary
  $<TARGET_FILE:cts> --short=env)
set_tests_properties(cts/peers PROPERTIES TIMEOUT 3600) # its long form compares every case with NumPy and PyTorch

# These tests run the suite on the GPU kernels, which the emulated GPU executes on this processor, and test how errors
# of a GPU are reported.
if(TARGET fake_cuda)
  script_test(cts/cuda cts ${CMAKE_SOURCE_DIR}/tests/cts/cuda_lanes.sh $<TARGET_FILE:cts> ${CMAKE_BINARY_DIR}/fake_cuda
    $<TARGET_FILE:cuda_rows_test>)
  set_tests_properties(cts/cuda PROPERTIES PROCESSORS 2 TIMEOUT 3600)
  script_test(cts/cuda_errors cts ${CMAKE_SOURCE_DIR}/tests/fake_cuda/cuda_errors.sh $<TARGET_FILE:volta>
    ${CMAKE_BINARY_DIR}/fake_cuda)
  foreach(name recovers steady)
    add_executable(${name}_check tests/fake_cuda/${name}_check.c)
    target_link_libraries(${name}_check PRIVATE vt_include vt_api vt_flags)
    add_test(NAME cts/cuda_${name} COMMAND ${name}_check ${CMAKE_SOURCE_DIR}/examples/mlp.vt)
    set_tests_properties(cts/cuda_${name} PROPERTIES LABELS cts ENVIRONMENT
      LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/fake_cuda)
  endforeach()
endif()
