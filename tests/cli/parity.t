$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,reference:1
$ volta parity examples/tiny_transformer.vt --bind B=2,T=16 --random-inputs 7 --backends reference:1,reference:0
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1,reference:0 --json
# Without --backends every complete device takes part, so the last line begins so.
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 | tail -n 1 | grep -o '^reference:0 = reference:1'

# A wrong bit in the last element of the first output is found and named.
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1 --json
$ volta-diverging parity tests/cli/models/rows.vt --bind N=3 --random-inputs 1 --backends reference:0,reference:1 -q

# Published digests.
$ printf '# digests\n\n%s  mlp.vt B=4 seed=0 inputs=7\n' $(volta run examples/mlp.vt --bind B=4 --random-inputs 7 --digest) > $TMP/published
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,reference:1 --published $TMP/published
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:1 --published $TMP/published
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:1 --published $TMP/published --json
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 8 --published $TMP/published
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --seed 1 --published $TMP/published
$ volta parity examples/mlp.vt --bind B=5 --random-inputs 7 --published $TMP/published
$ volta parity examples/mlp.vt --bind B=4 --published $TMP/published
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --published $TMP/missing
$ sed 's/  mlp/0  mlp/; s/^.\([0-9a-f]\{63\}\)/\1/' $TMP/published > $TMP/wrong; volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,reference:1 --published $TMP/wrong
$ cat $TMP/published $TMP/wrong > $TMP/both; volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --published $TMP/both
$ printf 'abc mlp.vt B=4 seed=0 inputs=7\n' > $TMP/malformed; volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --published $TMP/malformed
# The binding of a line may be in any order, and a file without one has a dash.
$ printf '%s tiny_transformer.vt T=16,B=2 seed=3 inputs=7\n%s fixed.vt - seed=0 inputs=1\n' $(volta run examples/tiny_transformer.vt --bind B=2,T=16 --seed 3 --random-inputs 7 --digest) $(volta run tests/cli/models/fixed.vt --random-inputs 1 --digest) > $TMP/two
$ volta parity examples/tiny_transformer.vt --bind B=2,T=16 --random-inputs 7 --seed 3 --backends reference --published $TMP/two | grep -o 'AGREES$'
$ volta parity tests/cli/models/fixed.vt --random-inputs 1 --backends reference --published $TMP/two | grep -o 'AGREES$'

# What cannot be compared.
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,nonesuch
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,null:0
$ volta parity examples/mlp.vt --bind B=4 --backends reference:0,reference:1
$ volta parity examples/mlp.vt --bind B=4 --published $TMP/published --params $TMP/p
