# Measuring: what it takes and what it refuses. What it reports is looked at by tests/bench.
$ volta help bench
usage: volta bench [FLAGS] [SUITE [MODEL]]
\
Measure the time of a suite of ops, or of a model.
\
flags:
      --backend BACKEND     The backend to measure. Default: cuda for the suite
                            cuda, else cpu.
      --small               With the suite cuda: measure the fixed costs of
                            small tensors: upload, one step and download, and
                            the same step on the CPU.
      --threads N,N,...     Measure with these numbers of threads. Default: 1,
                            and also 2 if there are two cores.
      --compare openblas    Time the matrix products of OpenBLAS too,
                            alternating with Volta, and show the ratio: above 1,
                            Volta takes less time. OpenBLAS is loaded once for
                            each core type that the processor can run. Each
                            product is measured with the core type and the
                            number of threads that are fastest for it, which the
                            report names. OPENBLAS_CORETYPE selects one core
                            type; VOLTA_ISA=avx2 excludes those with AVX-512.
      --peer FILE           The OpenBLAS library to load, for instance the one
                            that numpy or scipy contain. Default:
                            VOLTA_OPENBLAS, else libopenblas.so.0 or
                            libopenblas.so.
      --only TEXT           Measure only the rows whose name contains this text.
      --bind NAME=N,...     Give the dims of MODEL their sizes, as in B=4,T=128.
                            May be given more than once.
      --rounds N            The number of rounds. Default: 7. The report shows
                            the best call of all rounds, and the median.
      --quick               Small sizes and one short round: for testing, not
                            for measuring.
      --json                Print the report as JSON.
  -h, --help                Print this help.
  -q, --quiet               Print only errors on standard error.
  -v, --verbose             Print more on standard error.
\
example:
  volta bench cpu --quick --only sgemm
$ volta bench gpu7
! volta: error: there is no suite 'gpu7'; the suites are cpu, cuda, model [usage]
!   help: did you mean `cpu`?
? 2
$ volta bench cpuu
! volta: error: there is no suite 'cpuu'; the suites are cpu, cuda, model [usage]
!   help: did you mean `cpu`?
? 2
$ volta bench cpu examples/mlp.vt
! volta: error: the suite cpu takes no model; `volta bench model examples/mlp.vt` does [usage]
? 2
$ volta bench model
! volta: error: the suite model needs one: volta bench model MODEL [usage]
? 2
$ volta bench model $TMP/none.vt
! volta: error: cannot open $TMP/none.vt: No such file or directory [io]
? 3
$ volta bench model examples/mlp.vt --backend reference
! volta: error: the dimension 'B' is not bound [bind]
!   help: add --bind B=VALUE
? 2
$ volta bench model examples/mlp.vt --bind B=2 --compare openblas
! volta: error: the suite model has no flag --compare [usage]
? 2
$ volta bench model examples/mlp.vt --bind B=2 --only sgemm
! volta: error: the suite model has no flag --only [usage]
? 2
$ volta bench cpu --bind B=2
! volta: error: the suite cpu has no flag --bind [usage]
? 2
$ volta bench cpu --compare mkl
! volta: error: --compare takes openblas, not 'mkl' [usage]
? 2
$ volta bench cpu --peer $TMP/libopenblas.so
! volta: error: --peer says which library --compare openblas loads, and --compare is not given [usage]
? 2
$ volta bench cpu --compare openblas --peer $TMP/libopenblas.so
! volta: error: OpenBLAS cannot be loaded: $TMP/libopenblas.so: cannot open shared object file: No such file or directory [backend]
!   help: give one by --peer FILE or VOLTA_OPENBLAS; those in numpy and scipy work too
? 5
$ VOLTA_OPENBLAS=$TMP/lib.so volta bench cpu --compare openblas
! volta: error: OpenBLAS cannot be loaded: $TMP/lib.so: cannot open shared object file: No such file or directory [backend]
!   help: give one by --peer FILE or VOLTA_OPENBLAS; those in numpy and scipy work too
? 5
$ volta bench cpu --quick --only warp
! volta: error: no work of the suite cpu has 'warp' in its name [usage]
? 2
$ volta bench cpu --quick --rounds 3
! volta: error: --quick and --rounds contradict each other [usage]
? 2
$ volta bench cpu --rounds 0
! volta: error: --rounds takes a number from 1 to 1000 [usage]
? 2
$ volta bench cpu --threads 1,,2
! volta: error: --threads takes up to 8 numbers from 1 to 4096, as in 1,2, not '1,,2' [usage]
? 2
$ volta bench cpu --threads 0
! volta: error: --threads takes up to 8 numbers from 1 to 4096, as in 1,2, not '0' [usage]
? 2
$ volta bench cpu --threads 1,2,3,4,5,6,7,8,9
! volta: error: --threads takes up to 8 numbers from 1 to 4096, as in 1,2, not '1,2,3,4,5,6,7,8,9' [usage]
? 2
$ volta bench cpu --quick --backend nobody
! volta: error: there is no backend 'nobody'; there are: reference, cpu, cuda, island, null, and gpu, auto [backend]
? 5
$ volta bench cpu --quick --only tanh --backend reference --threads 1 | head -2 | cut -c1-70
reference:0: scalar reference; compositions as the ops that define the
work                         threads  weights       best us   median u
