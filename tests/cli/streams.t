# Standard output whose reader ends, that cannot be written, or that is closed.
$ (sleep 0.3; volta ops) | true
$ (sleep 0.3; volta fmt examples/mlp.vt) | true
# The exit code is right even if the reader has ended.
$ (sleep 0.3; volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1) | true
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1
$ volta ops > /dev/full
! volta: error: standard output cannot be written: No space left on device [io]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --json > /dev/full
! volta: error: standard output cannot be written: No space left on device [io]
? 3
$ volta ops >&-
! volta: error: standard output cannot be written: Bad file descriptor [io]
? 3
# Colour only on a terminal, and not with NO_COLOR.
$ volta explain nonsense 2>&1 | od -c | grep -c 033
0
? 1
$ script -qec 'volta explain nonsense' /dev/null | od -c | grep -c 033
2
? 2
$ script -qec 'NO_COLOR=1 volta explain nonsense' /dev/null | od -c | grep -c 033
0
? 1
# An interrupt: exit code 130, nothing on standard output, no temporary files.
$ mkdir $TMP/out; timeout --preserve-status -s INT 0.5 volta run examples/tiny_transformer.vt --bind B=64,T=256 --random-inputs 1 --backend reference --out $TMP/out; echo "exit $?"; ls -A $TMP/out
exit 130
