# The libraries that Volta uses. They are linked statically, so that the binary needs only the C library.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

function(static_dependency name archive header debian)
  find_library(VOLTA_${name}_LIB NAMES ${archive} ${name})
  find_path(VOLTA_${name}_INCLUDE ${header})
  if(NOT VOLTA_${name}_LIB OR NOT VOLTA_${name}_INCLUDE)
    message(FATAL_ERROR "${name} is missing: install ${debian} (`make setup` does)")
  endif()
  add_library(PkgVolta::${name} INTERFACE IMPORTED)
  target_link_libraries(PkgVolta::${name} INTERFACE ${VOLTA_${name}_LIB})
  target_include_directories(PkgVolta::${name} SYSTEM INTERFACE ${VOLTA_${name}_INCLUDE})
endfunction()

static_dependency(sodium libsodium.a sodium.h libsodium-dev)
static_dependency(jansson libjansson.a jansson.h libjansson-dev)
static_dependency(z libz.a zlib.h zlib1g-dev)

# The Python that tests run: the one in PATH or the system's own, whichever has the modules that they import.
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/python.sh numpy mpmath
  OUTPUT_VARIABLE VOLTA_PYTHON OUTPUT_STRIP_TRAILING_WHITESPACE)
