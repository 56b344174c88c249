# volta_probe, the program that loads plug-ins first, and its copy embedded in the library. It is never instrumented:
# sanitizers would report faults of plug-ins, and a crash must end the process with its signal.
add_executable(volta_probe src/gate/probe/probe_main.c src/gate/table.c src/base/status.c src/base/fpenv.c)
target_compile_definitions(volta_probe PRIVATE _POSIX_C_SOURCE=200809L)
target_include_directories(volta_probe PRIVATE include src/base src/gate)
target_compile_options(volta_probe PRIVATE -Os -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow
  -Wconversion -Wstrict-prototypes -Wmissing-prototypes $<$<BOOL:${VOLTA_WERROR}>:-Werror> -fno-sanitize=all)
target_link_options(volta_probe PRIVATE -s -fno-sanitize=all)
target_link_libraries(volta_probe PRIVATE Threads::Threads ${CMAKE_DL_LIBS})

add_executable(embed tools/embed.c)
add_custom_command(OUTPUT ${GENERATED}/probe_image.inc
  COMMAND embed < $<TARGET_FILE:volta_probe> > ${GENERATED}/probe_image.inc
  DEPENDS embed volta_probe)
add_custom_target(probe_image DEPENDS ${GENERATED}/probe_image.inc)
add_dependencies(vt_gate probe_image)
target_link_libraries(vt_gate PUBLIC ${CMAKE_DL_LIBS})
