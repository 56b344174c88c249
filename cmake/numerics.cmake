# Configuring fails if a compiler flag would change results, long before digests could differ.
string(TOUPPER "${CMAKE_BUILD_TYPE}" volta_build_type)
string(JOIN " " volta_all_flags "${CMAKE_C_FLAGS}" "${CMAKE_C_FLAGS_DEBUG}"
  "${CMAKE_C_FLAGS_RELEASE}" "${CMAKE_C_FLAGS_RELWITHDEBINFO}" "${CMAKE_C_FLAGS_MINSIZEREL}"
  "${CMAKE_C_FLAGS_${volta_build_type}}" "$ENV{CFLAGS}")
string(REGEX MATCH
  "-Ofast|-ffast-math|-funsafe-math-optimizations|-fassociative-math|-freciprocal-math|-ffinite-math-only|-fno-signed-zeros|-ffp-contract=(fast|on)|-mdaz-ftz|-ffp-model=fast"
  volta_bad_flag "${volta_all_flags}")
if(volta_bad_flag)
  message(FATAL_ERROR "Volta does not build with ${volta_bad_flag}: it changes results. "
    "Acceleration is allowed. Approximation is not.")
endif()
