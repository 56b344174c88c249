$ volta check examples/mlp.vt
examples/mlp.vt: ok: 4 nodes, 3 parameters, 1 input, 1 output
$ volta check examples/mlp.vt examples/tiny_transformer.vt
examples/mlp.vt: ok: 4 nodes, 3 parameters, 1 input, 1 output
examples/tiny_transformer.vt: ok: 45 nodes, 37 parameters, 1 input, 1 output
$ volta check --json examples/mlp.vt
{
  "files": [
    {
      "file": "examples/mlp.vt",
      "ok": true,
      "nodes": 4,
      "parameters": 3,
      "inputs": 1,
      "outputs": 1
    }
  ]
}
$ volta check $TMP/missing.vt
! volta: error: cannot open $TMP/missing.vt: No such file or directory [io]
? 3
$ volta check $TMP
! volta: error: $TMP is a folder without 'manifest.json', so it is not a bundle [io]
? 3
$ volta check tests/cli/models/syntax.vt
! tests/cli/models/syntax.vt:5:3: error: expected ')' to close the call of 'exp', found 'output' [syntax]
!   output y
!   ^
!   help: it was opened on line 4
? 3
# If the line has a tab, so has the line of the caret, which then is under its column.
$ volta check tests/cli/models/shapes.vt
! tests/cli/models/shapes.vt:5:6: error: 'y' = matmul: f32[2, 3] times f32[4, 5]: the contracted axes differ [verify]
!  y = matmul(a, b)
!      ^
? 3
$ volta check tests/cli/models/typo.vt
! tests/cli/models/typo.vt:4:7: error: unknown op 'sofmax' [syntax]
!   y = sofmax(x)
!       ^
!   help: did you mean 'softmax'?
? 3
# Every file is checked, and the first failure determines the exit code.
$ volta check tests/cli/models/typo.vt examples/mlp.vt tests/cli/models/syntax.vt
examples/mlp.vt: ok: 4 nodes, 3 parameters, 1 input, 1 output
! tests/cli/models/typo.vt:4:7: error: unknown op 'sofmax' [syntax]
!   y = sofmax(x)
!       ^
!   help: did you mean 'softmax'?
! tests/cli/models/syntax.vt:5:3: error: expected ')' to close the call of 'exp', found 'output' [syntax]
!   output y
!   ^
!   help: it was opened on line 4
? 3
$ volta check --json tests/cli/models/syntax.vt examples/mlp.vt
{
  "files": [
    {
      "file": "tests/cli/models/syntax.vt",
      "ok": false,
      "error": {
        "code": "syntax",
        "text": "expected ')' to close the call of 'exp', found 'output'",
        "line": 5,
        "column": 3,
        "hint": "it was opened on line 4"
      }
    },
    {
      "file": "examples/mlp.vt",
      "ok": true,
      "nodes": 4,
      "parameters": 3,
      "inputs": 1,
      "outputs": 1
    }
  ]
}
! tests/cli/models/syntax.vt:5:3: error: expected ')' to close the call of 'exp', found 'output' [syntax]
!   output y
!   ^
!   help: it was opened on line 4
? 3
$ volta check -q examples/mlp.vt
examples/mlp.vt: ok: 4 nodes, 3 parameters, 1 input, 1 output
# Control characters of a file are escaped.
$ printf 'volta 1\nmodel m {\n  \033[31mx\n}\n' > $TMP/escape.vt; volta check $TMP/escape.vt
! $TMP/escape.vt:3:3: error: control character 0x1b [syntax]
!    [31mx
!   ^
? 3
$ printf '' > $TMP/empty.vt; volta check $TMP/empty.vt
! $TMP/empty.vt:1:1: error: expected 'volta 1', the version of the text form, found end of text [syntax]
? 3
