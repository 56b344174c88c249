# tests/plugins: plug-ins that break one rule each, and some that keep all rules. They are built as a plug-in author
# would, with the public header only and without code of the library.
file(GLOB plugin_sources CONFIGURE_DEPENDS tests/plugins/*.c)
list(FILTER plugin_sources EXCLUDE REGEX "_check\\.c$")
set(plugin_folder ${CMAKE_BINARY_DIR}/plugins)
foreach(source ${plugin_sources})
  get_filename_component(name ${source} NAME_WE)
  add_library(plugin_${name} MODULE ${source})
  set_target_properties(plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${plugin_folder})
  target_include_directories(plugin_${name} PRIVATE include/volta tests/plugins)
  target_compile_definitions(plugin_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  target_compile_options(plugin_${name} PRIVATE -O1 -Wall -Wextra -fvisibility=hidden
    $<$<BOOL:${VOLTA_WERROR}>:-Werror>)
endforeach()

target_link_libraries(plugin_rounding PRIVATE m) # fesetround

add_executable(plugins_check tests/plugins/plugins_check.c)
target_include_directories(plugins_check PRIVATE tests tests/plugins)
target_link_libraries(plugins_check PRIVATE vt_api vt_flags)
add_test(NAME plugins/refused COMMAND plugins_check ${plugin_folder})
set_tests_properties(plugins/refused PROPERTIES LABELS unit
  PASS_REGULAR_EXPRESSION "were refused, the others let in")

# This test builds the example plug-in outside of the tree with two headers, runs it, and compares its results with the
# reference. The label `plugins` keeps the test out of the lanes with sanitizers.
script_test(plugins/example plugins ${CMAKE_SOURCE_DIR}/tests/plugins/example_plugin.sh
  $<TARGET_FILE:volta> $<TARGET_FILE:cts> ${GENERATED} ${CMAKE_C_COMPILER})
script_test(docs/abi corpus python3 -B ${CMAKE_SOURCE_DIR}/tests/check_abi_page.py)
