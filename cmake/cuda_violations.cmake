# The CUDA backend with one kernel that is not deterministic: tests/cuda_violations. It is a plug-in made of
# the rooms of the backend; the linker sends its launches to the file that exchanges the kernel. Left out
# where there are no kernels, and where the others of its kind are (violations.cmake).
if(VOLTA_SANITIZE OR VOLTA_FUZZ OR NOT cuda_names)
  add_custom_target(cuda_atomic) # there is nothing to plant it in
  return()
endif()
set(planted_folder ${CMAKE_SOURCE_DIR}/tests/cuda_violations)
set(planted_image ${cuda_folder}/fake.image)
function(plant_kernel) # a scope: what it compiles is none of what the audit of the backend's kernels reads
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

# planted_plugin(<target> <where>): cuda_atomic.so in cuda_violations/<where>.
function(planted_plugin name where)
  add_library(${name} MODULE $<TARGET_OBJECTS:cuda_planted>)
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME cuda_atomic LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/cuda_violations/${where})
  target_link_libraries(${name} PRIVATE vt_back_cuda)
  target_link_options(${name} PRIVATE LINKER:--wrap=vt_cuda_launch LINKER:--exclude-libs,ALL)
endfunction()

# One for GPUs, and one for the driver without a GPU, which it has to find by itself: the process that meets a
# plug-in first has no environment. Where kernels are for that driver alone, both are one.
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

# What reads the kernels finds it before it runs.
if(cuda_archs)
  list(GET cuda_archs 0 planted_arch)
  script_test(violations/cuda_planted_ptx tools python3 -B tools/check_ptx.py ${cuda_folder}/cuda_atomic.${planted_arch}.ptx)
  set_tests_properties(violations/cuda_planted_ptx PROPERTIES
    PASS_REGULAR_EXPRESSION "cuda_atomic: [a-z.]*add[.a-z]*f32: an atomic operation on floats")
endif()
