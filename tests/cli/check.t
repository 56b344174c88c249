$ volta check examples/mlp.vt
$ volta check examples/mlp.vt examples/tiny_transformer.vt
$ volta check --json examples/mlp.vt
$ volta check $TMP/missing.vt
$ volta check $TMP
$ volta check tests/cli/models/syntax.vt
# A tab before the caret keeps it under its column.
$ volta check tests/cli/models/shapes.vt
$ volta check tests/cli/models/typo.vt
# Every file is looked at, and the first failure gives the exit code.
$ volta check tests/cli/models/typo.vt examples/mlp.vt tests/cli/models/syntax.vt
$ volta check --json tests/cli/models/syntax.vt examples/mlp.vt
$ volta check -q examples/mlp.vt
# Nothing in a file reaches the terminal as it is.
$ printf 'volta 1\nmodel m {\n  \033[31mx\n}\n' > $TMP/escape.vt; volta check $TMP/escape.vt
$ printf '' > $TMP/empty.vt; volta check $TMP/empty.vt
