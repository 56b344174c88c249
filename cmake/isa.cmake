# The kernels of src/back/cpu are compiled once for each row of isa.def, each file with the options
# that its row stands for; which one runs is decided when a device is opened.
set(isa_common "-O3;-fno-trapping-math")
# Other levels are for the rest of the sources: at -O1 GCC 12 ends in an internal error of its own here.
if(CMAKE_C_FLAGS MATCHES "-O0")
  list(REMOVE_ITEM isa_common -O3)
endif()
# A kernel may say that its loop can become vectors; Clang warns of each that it leaves as it is
# (divisions of integers, `scalar`, builds for sanitizers).
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  list(APPEND isa_common -Wno-pass-failed)
endif()
# Vectors wider than the registers are passed in memory, which GCC mentions (psabi); all that pass
# them are inside one file.
set(isa_fun "-Wno-psabi;-Wno-sign-conversion")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(isa_scalar "-fno-tree-vectorize;-fno-tree-slp-vectorize")
  set(isa_sse2 "-msse2")
  set(isa_avx2 "-mavx2;-mfma;-mf16c")
  set(isa_avx512 "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mf16c;-mprefer-vector-width=512")
  set(isa_vnni "${isa_avx512};-mavx512vnni") # no row: integers alone
  set(isa_all scalar sse2 avx2 avx512 vnni)
else()
  set(isa_all scalar)
endif()
# A sanitizer watches one narrow and one wide table: the text of the others is the same, and an
# instrumented kern_avx512.c alone takes a minute and a half to compile. Without VOLTA_SANITIZE_KERNELS it
# watches the addresses of the wide one alone.
option(VOLTA_SANITIZE_KERNELS "Sanitizers watch all that kernels do" ON)
if(VOLTA_SANITIZE)
  list(REMOVE_ITEM isa_common -O3)
  set(isa_unwatched sse2 avx512 vnni)
  if(NOT VOLTA_SANITIZE_KERNELS)
    list(APPEND isa_unwatched scalar)
    list(APPEND isa_avx2 -fno-sanitize=undefined)
  endif()
  foreach(isa ${isa_unwatched})
    list(APPEND isa_${isa} -fno-sanitize=all)
  endforeach()
endif()
foreach(isa scalar sse2 avx2 avx512 vnni)
  foreach(file kern fun)
    if(NOT isa IN_LIST isa_all)
      set_source_files_properties(src/back/cpu/${file}_${isa}.c PROPERTIES HEADER_FILE_ONLY ON)
    else()
      set_source_files_properties(src/back/cpu/${file}_${isa}.c PROPERTIES
        COMPILE_OPTIONS "${isa_common};${isa_${isa}};${isa_${file}}")
    endif()
  endforeach()
endforeach()
