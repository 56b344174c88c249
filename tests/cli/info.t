$ volta info examples/mlp.vt
$ volta info examples/mlp.vt --bind B=4
$ volta info examples/tiny_transformer.vt --bind B=2 --bind T=16
$ volta info --json tests/cli/models/small.vt
$ volta info --json tests/cli/models/small.vt --bind B=7
$ volta info tests/cli/models/rows.vt
$ volta info tests/cli/models/fixed.vt
$ volta info examples/mlp.vt --bind Q=4
