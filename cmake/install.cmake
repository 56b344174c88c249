# libvolta, shared and static, and the files that `make install` installs. Both libraries export only the names of
# libvolta.symbols; tests/check_exports.py compares those with the headers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- dependencies: part of libvolta if their archives allow it, otherwise shared libraries that it needs ----
# bundle(<name> <pkg-config name>) appends to volta_bundled (archives), or to volta_needed (shared libraries) with
# their names for the linker, volta_needed_names, and for pkg-config, volta_needed_pc.
set(volta_results volta_bundled volta_needed volta_needed_names volta_needed_pc)
foreach(variable ${volta_results})
  set(${variable} "")
endforeach()
# An archive without position-independent code cannot be part of a shared library, so a shared library is linked with it
# as a trial.
function(bundle name pc)
  set(fits OFF)
  if(VOLTA_${name}_LIB MATCHES "\\.a$")
    file(WRITE ${CMAKE_BINARY_DIR}/try_${name}.c "extern int nothing;\n")
    try_compile(VOLTA_${name}_BUNDLES ${CMAKE_BINARY_DIR}/try_${name}
      SOURCES ${CMAKE_BINARY_DIR}/try_${name}.c
      CMAKE_FLAGS -DCMAKE_POSITION_INDEPENDENT_CODE=ON
      LINK_OPTIONS -shared LINKER:--exclude-libs,ALL
      LINK_LIBRARIES -Wl,--whole-archive ${VOLTA_${name}_LIB} -Wl,--no-whole-archive)
    set(fits ${VOLTA_${name}_BUNDLES})
  endif()
  if(fits)
    list(APPEND volta_bundled ${VOLTA_${name}_LIB})
  else()
    find_library(VOLTA_${name}_SHARED NAMES ${name} REQUIRED)
    message(STATUS "libvolta needs lib${name}: no archive of it can be part of a shared library")
    list(APPEND volta_needed ${VOLTA_${name}_SHARED})
    list(APPEND volta_needed_names ${name})
    list(APPEND volta_needed_pc ${pc})
  endif()
  foreach(variable ${volta_results})
    set(${variable} "${${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()
bundle(sodium libsodium)
bundle(z zlib)

# ---- the libraries ----
get_property(volta_rooms GLOBAL PROPERTY VOLTA_ROOMS)
set(volta_objects "")
foreach(room ${volta_rooms})
  list(APPEND volta_objects $<TARGET_OBJECTS:${room}>)
endforeach()

# -Bsymbolic-functions: calls inside the library reach its own functions even if a program defines the same names.
add_library(volta_shared SHARED ${volta_objects})
set_target_properties(volta_shared PROPERTIES OUTPUT_NAME volta EXPORT_NAME volta LINKER_LANGUAGE C
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(volta_shared PRIVATE ${volta_bundled} ${volta_needed} Threads::Threads)
target_link_options(volta_shared PRIVATE LINKER:--exclude-libs,ALL
  LINKER:-z,defs LINKER:-Bsymbolic-functions)

# libvolta.a is one object in which only the public names are global: several hundred other names have no prefix, and a
# program may have its own zlib.
set(whole ${CMAKE_BINARY_DIR}/volta_whole.o)
set(symbols ${CMAKE_SOURCE_DIR}/cmake/libvolta.symbols)
separate_arguments(whole_flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
add_custom_command(OUTPUT ${whole}
  COMMAND ${CMAKE_C_COMPILER} ${whole_flags} -r -nostdlib ${volta_objects}
    ${volta_bundled} -o ${whole}
  COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${symbols} ${whole}
  DEPENDS ${volta_objects} ${symbols}
  COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
add_library(volta_static STATIC ${whole})
set_target_properties(volta_static PROPERTIES OUTPUT_NAME volta LINKER_LANGUAGE C)
target_link_libraries(volta_static INTERFACE Threads::Threads ${volta_needed_names})
foreach(library volta_shared volta_static)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

# ---- files for find_package and pkg-config ----
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/volta)
configure_package_config_file(cmake/voltaConfig.cmake.in ${CMAKE_BINARY_DIR}/voltaConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/voltaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
# volta.pc computes the prefix from its own folder, so that an installed tree can be moved as a whole.
file(RELATIVE_PATH pc_up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
string(JOIN " " pc_requires ${volta_needed_pc})
configure_file(cmake/volta.pc.in ${CMAKE_BINARY_DIR}/volta.pc @ONLY)

# ---- installed files ----
install(TARGETS volta RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS volta_shared volta_static EXPORT voltaTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT voltaTargets NAMESPACE volta:: DESTINATION ${package})
install(FILES ${CMAKE_BINARY_DIR}/voltaConfig.cmake ${CMAKE_BINARY_DIR}/voltaConfigVersion.cmake
  DESTINATION ${package})
install(FILES ${CMAKE_BINARY_DIR}/volta.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(GLOB headers CONFIGURE_DEPENDS include/volta/*.h include/volta/*.def)
install(FILES ${headers} ${GENERATED}/volta/volta_ops.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/volta)
install(FILES docs/volta.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/volta.bash RENAME volta
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/volta.zsh RENAME _volta
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/volta.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Pages and examples keep their relative paths, so that links between them work.
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
