# tests/cuda_violations: the CUDA backend as a plug-in with one kernel that is not deterministic. It is linked from
# the rooms of the backend, and the linker redirects its launches to the file that replaces the kernel. It is left out
# of builds without kernels, and of those that leave out the other wrong backends (violations.cmake).
if(VOLTA_SANITIZE OR VOLTA_FUZZ OR NOT cuda_names)
  add_custom_target(cuda_atomic) # an empty target: scripts/ci/cuda_infer_verify.sh always builds it
  return()
endif()
set(planted_folder ${CMAKE_SOURCE_DIR}/tests/cuda_violations)
set(planted_image ${cuda_folder}/fake.image)
function(plant_kernel) # a function keeps its changes of cuda_audited local, so that the audit does not see this kernel
  cuda_module(cuda_atomic ${planted_folder})
endfunction()
if(cuda_archs)
  plant_kernel()
  set(planted_image ${cuda_folder}/cuda_atomic.fatbin)
endif()
add_library(cuda_planted OBJECT ${planted_folder}/cuda_atomic.c)
set_source_files_properties(${planted_folder}/cuda_atomic.c PROPERTIES OBJECT_DEPENDS ${planted_image})
target_compile_definitions(cuda_planted PRIVATE "CUDA_ATOMIC_IMAGE=\"${planted_image}\"")
target_link_libraries(cuda_planted PRIVATE vt_back_cuda vt_flags)

# planted_plugin(<target> <where>): builds cuda_atomic.so in cuda_violations/<where>.
function(planted_plugin name where)
  add_library(${name} MODULE $<TARGET_OBJECTS:cuda_planted>)
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME cuda_atomic LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/cuda_violations/${where})
  target_link_libraries(${name} PRIVATE vt_back_cuda)
  target_link_options(${name} PRIVATE LINKER:--wrap=vt_cuda_launch LINKER:--exclude-libs,ALL)
endfunction()

# There are two plug-ins: one for GPUs and one for the emulated driver. The latter needs a run path to its driver,
# because the process that loads plug-ins first has no environment. If the build has only kernels for the emulated
# driver, one plug-in serves for both.
planted_plugin(cuda_atomic .)
set(planted_emulated cuda_atomic)
if(cuda_archs AND TARGET fake_cuda)
  set(planted_emulated cuda_atomic_emulated)
  planted_plugin(cuda_atomic_emulated emulated)
endif()
if(TARGET fake_cuda)
  set_target_properties(${planted_emulated} PROPERTIES BUILD_RPATH ${CMAKE_BINARY_DIR}/fake_cuda)
  script_test(violations/cuda_planted violations ${planted_folder}/planted_kernel.sh $<TARGET_FILE:volta>
    $<TARGET_FILE:${planted_emulated}> ${CMAKE_BINARY_DIR}/fake_cuda)
endif()

# The audit of kernels finds the fault without running it.
if(cuda_archs)
  list(GET cuda_archs 0 planted_arch)
  script_test(violations/cuda_planted_ptx tools python3 -B tools/check_ptx.py ${cuda_folder}/cuda_atomic.${planted_arch}.ptx)
  set_tests_properties(violations/cuda_planted_ptx PROPERTIES
    PASS_REGULAR_EXPRESSION "cuda_atomic: [a-z.]*add[.a-z]*f32: an atomic operation on floats")
endif()
