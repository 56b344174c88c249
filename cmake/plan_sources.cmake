# Generates plan_sources.inc: a hash of the sources that decide how a model is planned and what the kernels compute.
# The keys of cached plans and trials contain it. Included, this file adds the build rule; run as a script
# (-DROOT=... -DOUT=...), it writes the file.
set(plan_rooms base num op ir front pass plan gate api emit back/null back/reference back/island back/cpu back/cuda)
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.20)
  set(all "")
  foreach(room ${plan_rooms})
    file(GLOB files RELATIVE ${ROOT} ${ROOT}/src/${room}/*.c ${ROOT}/src/${room}/*.h
      ${ROOT}/src/${room}/*.def ${ROOT}/src/${room}/*.inc ${ROOT}/src/${room}/*.cu ${ROOT}/src/${room}/*.cuh)
    list(FILTER files EXCLUDE REGEX "_test\\.")
    list(SORT files)
    foreach(file ${files})
      file(SHA256 ${ROOT}/${file} hash)
      string(APPEND all "${file} ${hash}\n")
    endforeach()
  endforeach()
  string(SHA256 whole "${all}")
  file(WRITE ${OUT} "\"${whole}\"\n")
else()
  set(plan_files "")
  foreach(room ${plan_rooms})
    file(GLOB files CONFIGURE_DEPENDS src/${room}/*.c src/${room}/*.h src/${room}/*.def
      src/${room}/*.inc src/${room}/*.cu src/${room}/*.cuh)
    list(FILTER files EXCLUDE REGEX "_test\\.")
    list(APPEND plan_files ${files})
  endforeach()
  add_custom_command(OUTPUT ${GENERATED}/plan_sources.inc
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUT=${GENERATED}/plan_sources.inc
      -P ${CMAKE_SOURCE_DIR}/cmake/plan_sources.cmake
    DEPENDS ${plan_files} ${CMAKE_SOURCE_DIR}/cmake/plan_sources.cmake)
  add_custom_target(plan_sources DEPENDS ${GENERATED}/plan_sources.inc)
  add_dependencies(vt_api plan_sources)
endif()
