# Compile options of the CPU kernels. src/back/cpu/kern_<isa>.c and fun_<isa>.c are compiled with the options of their
# row in isa.def; a device chooses one of them when it is opened.
set(isa_common "-O3;-fno-trapping-math")
# Kernels are compiled with -O3 even if the rest has -O1, because GCC 12 fails on them at -O1 with an internal error.
# Only -O0 applies to them too.
if(CMAKE_C_FLAGS MATCHES "-O0")
  list(REMOVE_ITEM isa_common -O3)
endif()
# Kernels have pragmas that ask for vectorized loops. Clang warns about each loop that it does not vectorize
# (divisions of integers, `scalar`, builds with sanitizers).
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  list(APPEND isa_common -Wno-pass-failed)
endif()
# GCC warns that vectors wider than the registers are passed in memory (psabi). Only functions of the same file pass
# them, so the ABI does not matter.
set(isa_fun "-Wno-psabi;-Wno-sign-conversion")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(isa_scalar "-fno-tree-vectorize;-fno-tree-slp-vectorize")
  set(isa_sse2 "-msse2")
  set(isa_avx2 "-mavx2;-mfma;-mf16c")
  set(isa_avx512 "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mf16c;-mprefer-vector-width=512")
  set(isa_vnni "${isa_avx512};-mavx512vnni") # for integer kernels only; it has no row in isa.def
  set(isa_all scalar sse2 avx2 avx512 vnni)
else()
  set(isa_all scalar)
endif()
# Sanitizers instrument only scalar and avx2: the source of the others is the same, and an instrumented kern_avx512.c
# takes a minute and a half to compile. Without VOLTA_SANITIZE_KERNELS only the addresses of avx2 are checked.
option(VOLTA_SANITIZE_KERNELS "Sanitizers check undefined behaviour in CPU kernels too" ON)
if(VOLTA_SANITIZE)
  list(REMOVE_ITEM isa_common -O3)
  set(isa_uninstrumented sse2 avx512 vnni)
  if(NOT VOLTA_SANITIZE_KERNELS)
    list(APPEND isa_uninstrumented scalar)
    list(APPEND isa_avx2 -fno-sanitize=undefined)
  endif()
  foreach(isa ${isa_uninstrumented})
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
