$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,reference:1
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  reference:0
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  reference:1  40 elements compared, 0 differ
reference:0 = reference:1: e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ volta parity examples/tiny_transformer.vt --bind B=2,T=16 --random-inputs 7 --backends reference:1,reference:0
23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b  reference:1
23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b  reference:0  3072 elements compared, 0 differ
reference:1 = reference:0: 23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1,reference:0 --json
{
  "model": "small",
  "bind": {
    "B": 2
  },
  "backends": [
    {
      "backend": "reference:0",
      "digest": "5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3",
      "unadmitted": false,
      "fallback": null
    },
    {
      "backend": "reference:1",
      "digest": "5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3",
      "unadmitted": false,
      "fallback": null,
      "agrees": true,
      "compared": 8,
      "differing": 0,
      "largest": "0"
    },
    {
      "backend": "reference:0",
      "digest": "5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3",
      "unadmitted": false,
      "fallback": null,
      "agrees": true,
      "compared": 8,
      "differing": 0,
      "largest": "0"
    }
  ],
  "agree": true,
  "policy": {
    "determinism": "strict",
    "precision": "locked",
    "fallback": "none",
    "mixed_path": "refused",
    "admission": "required",
    "capabilities": "tried"
  }
}
# Without --backends every complete device takes part, so the last line begins so.
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 | tail -n 1 | grep -o '^reference:0 = reference:1'
reference:0 = reference:1
# Memory that the host cannot reach, and layouts without strides, change no bit of any example.
$ for m in 'mlp B=4' 'cnn B=2' 'quant_mlp B=4' 'lstm B=2,T=16' 'encoder B=2,T=16' 'tiny_transformer B=2,T=16'; do set -- $m; volta parity examples/$1.vt --bind $2 --random-inputs 7 --backends reference:0,island:0,island:1 | tail -n 1 | sed "s/: .*/: $1/"; done
reference:0 = island:0 = island:1: mlp
reference:0 = island:0 = island:1: cnn
reference:0 = island:0 = island:1: quant_mlp
reference:0 = island:0 = island:1: lstm
reference:0 = island:0 = island:1: encoder
reference:0 = island:0 = island:1: tiny_transformer

# Numbers of threads: the backend that has threads runs with each of them, the others run once.
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference,cpu --threads 1,2,3
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  reference
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  cpu x1  40 elements compared, 0 differ
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  cpu x2  40 elements compared, 0 differ
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  cpu x3  40 elements compared, 0 differ
reference = cpu x1 = cpu x2 = cpu x3: e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends cpu --threads 1,2
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  cpu x1
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  cpu x2  8 elements compared, 0 differ
cpu x1 = cpu x2: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
# The place in the list is all the same.
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends cpu,reference --threads 1,2
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  cpu x1
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  cpu x2  8 elements compared, 0 differ
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  reference  8 elements compared, 0 differ
cpu x1 = cpu x2 = reference: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1,cpu,island --threads 1,2 | tail -n 1
reference:0 = reference:1 = cpu x1 = cpu x2 = island: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference --threads 1,2
! volta: error: parity needs two runs: two backends, cpu with two numbers of threads, or one backend and --published [usage]
? 2
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference,cpu --threads 3 --json | grep -A5 cpu:0
      "backend": "cpu:0",
      "digest": "5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3",
      "unadmitted": false,
      "fallback": null,
      "threads": 3,
      "agrees": true,
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference,cpu --threads 1,
! volta: error: --threads takes up to 16 numbers from 1 to 4096, not '1,' [usage]
? 2
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference,cpu --threads 1,4097
! volta: error: --threads takes up to 16 numbers from 1 to 4096, not '1,4097' [usage]
? 2
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends cpu --threads 1
! volta: error: parity needs two runs: two backends, cpu with two numbers of threads, or one backend and --published [usage]
? 2
# Every example, with one thread and with three; and without any vectors.
$ for m in 'mlp B=4' 'cnn B=2' 'quant_mlp B=4' 'lstm B=2,T=16' 'encoder B=2,T=16' 'tiny_transformer B=3,T=33'; do set -- $m; volta parity examples/$1.vt --bind $2 --random-inputs 5 --backends reference,cpu --threads 1,3 | tail -n 1 | sed "s/: .*/: $1/"; done
reference = cpu x1 = cpu x3: mlp
reference = cpu x1 = cpu x3: cnn
reference = cpu x1 = cpu x3: quant_mlp
reference = cpu x1 = cpu x3: lstm
reference = cpu x1 = cpu x3: encoder
reference = cpu x1 = cpu x3: tiny_transformer
$ VOLTA_ISA=scalar volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference,cpu --threads 2 | tail -n 1
reference = cpu x2: e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ VOLTA_ISA=mmx volta run examples/mlp.vt --bind B=4 --random-inputs 7 --backend cpu
! volta: error: backend 'cpu:0' cannot open its device: unknown instruction set 'mmx'; known: scalar sse2 avx2 avx512 [unsupported]
? 4

# A wrong bit in the last element of the first output is found and named.
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  reference:0
5537dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  reference:1  8 elements compared, 1 differ, largest distance 1
  first a[1, 1]: reference:0 has 00000000 (0), reference:1 has 00000001 (1e-45)
reference:0: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3 != reference:1: 5537dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1 --threads 2 | tail -n 1
reference:0: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3 != reference:1: 5537dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1 --json
{
  "model": "small",
  "bind": {
    "B": 2
  },
  "backends": [
    {
      "backend": "reference:0",
      "digest": "5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3",
      "unadmitted": false,
      "fallback": null
    },
    {
      "backend": "reference:1",
      "digest": "5537dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3",
      "unadmitted": false,
      "fallback": null,
      "agrees": false,
      "compared": 8,
      "differing": 1,
      "largest": "1",
      "first": {
        "output": "a",
        "index": "[1, 1]",
        "expected": "00000000",
        "found": "00000001"
      }
    }
  ],
  "agree": false,
  "policy": {
    "determinism": "strict",
    "precision": "locked",
    "fallback": "none",
    "mixed_path": "refused",
    "admission": "required",
    "capabilities": "tried"
  }
}
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1
$ volta-diverging parity tests/cli/models/rows.vt --bind N=3 --random-inputs 1 --backends reference:0,reference:1 -q
9cdcbc164b0ad959e27597f7a877dc66224cda3b6cd4ed94126da43fa953efae  reference:0
9ddcbc164b0ad959e27597f7a877dc66224cda3b6cd4ed94126da43fa953efae  reference:1  6 elements compared, 1 differ, largest distance 1
  first row[2, 1]: reference:0 has 3dadede0 (0.08492637), reference:1 has 3dadede1 (0.084926374)
reference:0: 9cdcbc164b0ad959e27597f7a877dc66224cda3b6cd4ed94126da43fa953efae != reference:1: 9ddcbc164b0ad959e27597f7a877dc66224cda3b6cd4ed94126da43fa953efae
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1
# The last line says who agrees with whom, wherever the wrong one stands.
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1,cpu,reference:1 --threads 1,2 -q | tail -n 1
reference:0 = cpu x1 = cpu x2: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3 != reference:1 = reference:1: 5537dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:1,cpu,reference:0 -q | tail -n 1
reference:1: 5537dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3 != cpu:0 = reference:0: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1

# Published digests.
$ printf '# digests\n\n%s  mlp.vt B=4 seed=0 inputs=7\n' $(volta run examples/mlp.vt --bind B=4 --random-inputs 7 --digest) > $TMP/published
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,reference:1 --published $TMP/published
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  reference:0
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  reference:1  40 elements compared, 0 differ
reference:0 = reference:1: e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2; published: e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2: AGREES
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:1 --published $TMP/published
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  reference:1
reference:1: e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2; published: e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2: AGREES
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:1 --published $TMP/published --json
{
  "model": "mlp",
  "bind": {
    "B": 4
  },
  "backends": [
    {
      "backend": "reference:1",
      "digest": "e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2",
      "unadmitted": false,
      "fallback": null
    }
  ],
  "agree": true,
  "policy": {
    "determinism": "strict",
    "precision": "locked",
    "fallback": "none",
    "mixed_path": "refused",
    "admission": "required",
    "capabilities": "tried"
  },
  "published": {
    "digest": "e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2",
    "agrees": true
  }
}
# Who has the published digest and who has not; AGREES is said where all have it.
$ printf '%s small.vt B=2 seed=0 inputs=1\n' $(volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --digest) > $TMP/small
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1,cpu --published $TMP/small -q | tail -n 1
reference:0 = cpu:0: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3 != reference:1: 5537dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3; published: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3: DIFFERS from reference:1
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:1,reference:0,cpu --published $TMP/small -q | tail -n 1
reference:1: 5537dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3 != reference:0 = cpu:0: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3; published: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3: DIFFERS from reference:1
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1
$ volta-diverging parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --backends reference:0,reference:1 --published $TMP/small --json | grep '"agree'
      "agrees": false,
  "agree": false,
    "agrees": false
! volta: error: Accelerated backend diverges from CPU semantics. This is forbidden. [differs]
? 1
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 8 --published $TMP/published
! $TMP/published: error: no digest is published for mlp.vt with this binding, seed=0 and inputs=8 [name]
!   help: use --bind, --seed and --random-inputs as in a line of the file
? 2
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --seed 1 --published $TMP/published
! $TMP/published: error: no digest is published for mlp.vt with this binding, seed=1 and inputs=7 [name]
!   help: use --bind, --seed and --random-inputs as in a line of the file
? 2
$ volta parity examples/mlp.vt --bind B=5 --random-inputs 7 --published $TMP/published
! $TMP/published: error: no digest is published for mlp.vt with this binding, seed=0 and inputs=7 [name]
!   help: use --bind, --seed and --random-inputs as in a line of the file
? 2
$ volta parity examples/mlp.vt --bind B=4 --published $TMP/published
! $TMP/published: error: no digest is published for mlp.vt with this binding, seed=0 and inputs=- [name]
!   help: use --bind, --seed and --random-inputs as in a line of the file
? 2
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --published $TMP/missing
! $TMP/missing: error: cannot be read: No such file or directory [io]
? 3
$ sed 's/  mlp/0  mlp/; s/^.\([0-9a-f]\{63\}\)/\1/' $TMP/published > $TMP/wrong; volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,reference:1 --published $TMP/wrong
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  reference:0
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2  reference:1  40 elements compared, 0 differ
reference:0 = reference:1: e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2; published: 263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede20: DIFFERS
! volta: error: the run does not have the published digest [differs]
? 1
$ cat $TMP/published $TMP/wrong > $TMP/both; volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --published $TMP/both
! $TMP/both:6:1: error: a second digest is published for the same run [format]
! 263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede20  mlp.vt B=4 seed=0 inputs=7
! ^
? 3
$ printf 'abc mlp.vt B=4 seed=0 inputs=7\n' > $TMP/malformed; volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --published $TMP/malformed
! $TMP/malformed:1:1: error: the line is not a published digest [format]
! abc mlp.vt B=4 seed=0 inputs=7
! ^
!   help: a line has the form DIGEST MODEL BIND seed=S inputs=S
? 3
# The binding of a line may be in any order, and a file without one has a dash.
$ printf '%s tiny_transformer.vt T=16,B=2 seed=3 inputs=7\n%s fixed.vt - seed=0 inputs=1\n' $(volta run examples/tiny_transformer.vt --bind B=2,T=16 --seed 3 --random-inputs 7 --digest) $(volta run tests/cli/models/fixed.vt --random-inputs 1 --digest) > $TMP/two
$ volta parity examples/tiny_transformer.vt --bind B=2,T=16 --random-inputs 7 --seed 3 --backends reference --published $TMP/two | grep -o 'AGREES$'
AGREES
$ volta parity tests/cli/models/fixed.vt --random-inputs 1 --backends reference --published $TMP/two | grep -o 'AGREES$'
AGREES

# What cannot be compared.
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference
! volta: error: parity needs two runs: two backends, cpu with two numbers of threads, or one backend and --published [usage]
? 2
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,nonesuch
! volta: error: there is no backend 'nonesuch'; there are: reference, cpu, cuda, island, null, and gpu, auto [backend]
? 5
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,
! volta: error: --backends takes A,B,..., and one of them is empty [usage]
? 2
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,null:0
! volta: error: backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels [unsupported]
? 4
$ volta parity examples/mlp.vt --bind B=4 --backends reference:0,reference:1
! volta: error: the input 'x' has no value [name]
!   help: give --in x=FILE.npy or --random-inputs SEED
? 2
$ volta parity examples/mlp.vt --bind B=4 --published $TMP/published --params $TMP/p
! volta: error: --published and --params contradict each other [usage]
? 2
