# tests/violations: backends that are the reference except for one planted fault each. They are linked
# with the rooms they need, and the linker replaces functions of the numerics library. Builds with
# sanitizers leave them out, because the program that loads plug-ins first is not instrumented.
if(VOLTA_SANITIZE OR VOLTA_FUZZ)
  return()
endif()

file(GLOB violation_sources CONFIGURE_DEPENDS tests/violations/*.c)
list(FILTER violation_sources EXCLUDE REGEX "_check\\.c$|/violation\\.c$")
set(violation_folder ${CMAKE_BINARY_DIR}/violations)
add_library(violation OBJECT tests/violations/violation.c)
target_link_libraries(violation PRIVATE vt_op vt_flags)
add_dependencies(violation volta_ops_h)
set(violation_wrap "")
foreach(name f32_exp f32_max sum_f32_add sum_f32_done dot_row_f32)
  list(APPEND violation_wrap LINKER:--wrap=vt_${name})
endforeach()
set(violation_targets "")
foreach(source ${violation_sources})
  get_filename_component(name ${source} NAME_WE)
  add_library(violation_${name} MODULE ${source} $<TARGET_OBJECTS:violation>)
  set_target_properties(violation_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${violation_folder})
  target_link_libraries(violation_${name} PRIVATE vt_op vt_flags)
  target_link_options(violation_${name} PRIVATE ${violation_wrap} LINKER:--exclude-libs,ALL)
  list(APPEND violation_targets violation_${name})
endforeach()
add_custom_target(violations DEPENDS ${violation_targets})
target_link_libraries(violation_leaves_mode PRIVATE m) # fesetround

add_executable(violations_check tests/violations/violations_check.c)
target_include_directories(violations_check PRIVATE tests)
target_link_libraries(violations_check PRIVATE vt_admit vt_flags)
add_dependencies(violations_check violations)
add_test(NAME violations/refused COMMAND violations_check ${violation_folder}
  ${CMAKE_SOURCE_DIR}/tests/violations/README.md)
set_tests_properties(violations/refused PROPERTIES LABELS violations
  PASS_REGULAR_EXPRESSION "each is refused for its own fault")
long_only(violations/refused)
script_test(violations/reproduced violations ${CMAKE_SOURCE_DIR}/tests/violations/admit_refuses.sh
  $<TARGET_FILE:volta> ${violation_folder})
