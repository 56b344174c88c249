$ volta fmt tests/cli/models/small.vt
$ volta fmt examples/mlp.vt
$ volta fmt --check examples/mlp.vt
# What fmt prints is a fixed point.
$ volta fmt examples/tiny_transformer.vt -o $TMP/t.vt
$ volta fmt --check $TMP/t.vt
$ volta fmt $TMP/t.vt | cmp - $TMP/t.vt
# A file that goes on after the printed form, or stops before its end, is not in it.
$ volta fmt examples/mlp.vt > $TMP/longer.vt; printf '# more\n' >> $TMP/longer.vt; volta fmt --check $TMP/longer.vt
$ volta fmt examples/mlp.vt | head -c -1 > $TMP/shorter.vt; volta fmt --check $TMP/shorter.vt
$ volta fmt examples/mlp.vt -o $TMP/no/such/folder.vt
# Nothing else is left beside what was written, and a link stays a link.
$ mkdir $TMP/d; ln -s real.vt $TMP/d/link.vt; printf 'old' > $TMP/d/real.vt; volta fmt examples/mlp.vt --out=$TMP/d/link.vt; volta fmt examples/mlp.vt | cmp - $TMP/d/real.vt; ls $TMP/d; readlink $TMP/d/link.vt
# A device is written, not replaced.
$ volta fmt examples/mlp.vt -o /dev/null; test -c /dev/null && echo still a device
$ volta fmt examples/mlp.vt -o - | head -n 1
