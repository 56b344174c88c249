$ volta fmt tests/cli/models/small.vt
volta 1
model small {
  dim B
  input x: f32[B, 3]
  param w: f32[3, 2] = uniform(low=-1.0, high=1.0, stream=3101895931)
  y: f32[B, 2] = matmul(x, w, transpose_a=false, transpose_b=false, order=fma256)
  a: f32[B, 2] = relu(y)
  output y
  output a
}
$ volta fmt examples/mlp.vt
volta 1
model mlp {
  dim B
  input x: f32[B, 784]
  param w1: f32[784, 256] = he_normal(fan_in=0, fan_out=0, stream=1)
  param b1: f32[256] = zeros
  param w2: f32[256, 10] = he_normal(fan_in=0, fan_out=0, stream=2)
  _0: f32[B, 256] = matmul(x, w1, transpose_a=false, transpose_b=false, order=fma256)
  _1: f32[B, 256] = add(_0, b1)
  h: f32[B, 256] = relu(_1)
  logits: f32[B, 10] = matmul(h, w2, transpose_a=false, transpose_b=false, order=fma256)
  output logits
}
$ volta fmt --check examples/mlp.vt
! examples/mlp.vt: error: the file is not in the printed form [differs]
!   help: `volta fmt examples/mlp.vt` prints this form
? 1
# What fmt prints is a fixed point.
$ volta fmt examples/tiny_transformer.vt -o $TMP/t.vt
$ volta fmt --check $TMP/t.vt
$ volta fmt $TMP/t.vt | cmp - $TMP/t.vt
# A file that goes on after the printed form, or stops before its end, is not in it.
$ volta fmt examples/mlp.vt > $TMP/longer.vt; printf '# more\n' >> $TMP/longer.vt; volta fmt --check $TMP/longer.vt
! $TMP/longer.vt: error: the file is not in the printed form [differs]
!   help: `volta fmt $TMP/longer.vt` prints this form
? 1
$ volta fmt examples/mlp.vt | head -c -1 > $TMP/shorter.vt; volta fmt --check $TMP/shorter.vt
! $TMP/shorter.vt: error: the file is not in the printed form [differs]
!   help: `volta fmt $TMP/shorter.vt` prints this form
? 1
$ volta fmt examples/mlp.vt -o $TMP/no/such/folder.vt
! volta: error: cannot write $TMP/no/such/folder.vt: No such file or directory [io]
? 3
# Nothing else is left beside what was written, and a link stays a link.
$ mkdir $TMP/d; ln -s real.vt $TMP/d/link.vt; printf 'old' > $TMP/d/real.vt; volta fmt examples/mlp.vt --out=$TMP/d/link.vt; volta fmt examples/mlp.vt | cmp - $TMP/d/real.vt; ls $TMP/d; readlink $TMP/d/link.vt
link.vt
real.vt
real.vt
# A pipe is written, not replaced.
$ mkfifo $TMP/pipe; timeout 10 cat $TMP/pipe > $TMP/read & volta fmt examples/mlp.vt -o $TMP/pipe; wait; volta fmt examples/mlp.vt | cmp - $TMP/read; test -p $TMP/pipe && echo still a pipe
still a pipe
$ volta fmt examples/mlp.vt -o - | head -n 1
volta 1
