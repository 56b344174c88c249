# volta plan: the memory and the steps of a run, without running it.
$ volta plan examples/mlp.vt --backend reference --bind B=4
model mlp on reference:0, B=4
\
class                     bytes
host_input                12544    12.2 KiB
parameter                814080   795.0 KiB
gradient                      0         0 B
optimizer_state               0         0 B
temporary                  4096     4.0 KiB
workspace                     0         0 B
output                      256       256 B
host_parameter                0         0 B
state                         0         0 B
backend_memory                0         0 B
\
peak                     830976   811.5 KiB  on the device
live                     830880   811.4 KiB  the most alive at one time; the peak is 1.0001 times that
\
5 steps of 5 nodes, 2 in place, 0 views, 1 group; dense copies: 0
2 transfers a run: 12544 bytes in, 160 out
most is alive at step 4: logits = matmul(h, w2, transpose_a=false, transpose_b=false, order=fma256)
core   a4e0c5b4c81cae4c3f9711d95a2cc3c493641f762d85215e183e04fc25a3fb80
target bf5a6a72f6b7072e871c345f0af088ff6f727fc296feac71dd30440752c1e9bf
$ volta plan examples/tiny_transformer.vt --backend reference --bind B=2,T=16 --schedule memory --stream tok.weight,wpe --memory-budget 1MiB
model tiny_transformer on reference:0, B=2 T=16
\
class                     bytes
host_input                  256       256 B
parameter                424960   415.0 KiB
gradient                      0         0 B
optimizer_state               0         0 B
temporary                 71936    70.2 KiB
workspace                     0         0 B
output                    12288    12.0 KiB
host_parameter            90112    88.0 KiB  in host memory, not in the peak
state                         0         0 B
backend_memory                0         0 B
\
peak                     509440   497.5 KiB  on the device
live                     507296   495.4 KiB  the most alive at one time; the peak is 1.0042 times that
budget                  1048576     1.0 MiB  met
\
140 steps of 157 nodes, 69 in place, 17 views, 33 groups; dense copies: 0
4 transfers a run: 90240 bytes in, 12288 out
most is alive at step 62: _71 = mul(_70, _67) @14
core   feb55af140c11c9e9610c8ded5fb9a8671a47bb50b09a76120042593360d3077
target 4ef0c14042298556b4b1625ca5007ce6b8ae67622cb16b5530b8807d220d483a
$ volta plan examples/mlp.vt --backend reference --bind B=4 --json
{
  "model": "mlp",
  "hash": "4842ad81fc72106d357be29d4ce23e168545be4c724294fade6cd456705d3fa8",
  "backend": "reference:0",
  "bind": {
    "B": 4
  },
  "policy": {
    "determinism": "strict",
    "precision": "locked",
    "fallback": "none",
    "mixed_path": "refused",
    "admission": "required",
    "capabilities": "tried"
  },
  "unadmitted": false,
  "fallback": null,
  "schedule": "source",
  "stream": null,
  "memory_budget": null,
  "host_input": 12544,
  "parameter": 814080,
  "gradient": 0,
  "optimizer_state": 0,
  "temporary": 4096,
  "workspace": 0,
  "output": 256,
  "host_parameter": 0,
  "state": 0,
  "backend_memory": 0,
  "peak": 830976,
  "live": 830880,
  "ratio": 1.0001155401502022,
  "nodes": 5,
  "steps": 5,
  "views": 0,
  "in_place": 2,
  "groups": 1,
  "dense_copies": 0,
  "transfers": 2,
  "to_device": 12544,
  "from_device": 160,
  "fullest": {
    "step": 4,
    "does": "logits = matmul(h, w2, transpose_a=false, transpose_b=false, order=fma256)"
  },
  "core": "a4e0c5b4c81cae4c3f9711d95a2cc3c493641f762d85215e183e04fc25a3fb80",
  "target": "bf5a6a72f6b7072e871c345f0af088ff6f727fc296feac71dd30440752c1e9bf"
}
$ volta plan tests/cli/models/fixed.vt --backend reference --text
plan 3, numerics 1
core fixed {
  schedule source
  host_input 256 bytes
  parameter 0 bytes
  gradient 0 bytes
  optimizer_state 0 bytes
  temporary 0 bytes
  output 256 bytes
  host_parameter 0 bytes
  value 0 own host_input +0: x f32[2], 8 bytes, steps 0..1
  value 1 own output +0: y f32[2], 8 bytes, steps 0..1
  transfer host_input +0: x in before step 0, 8 bytes
  transfer output +0: y out before step 1, 8 bytes
  step 0 node 0: y = exp(x)
}
target {
  fingerprint reference-1 prims
  dense_only 0
  workspace 0 bytes
  live 16 bytes at step 0
  run 0 work 0: node 0
}

# All of GPT-2, which may need more memory than this machine has.
$ volta plan examples/gpt2_124m.vt --backend reference --bind B=4,T=1024 --json | python3 -c "import json, sys; p = json.load(sys.stdin); print(*(k for k in ('parameter', 'temporary', 'output', 'host_input', 'peak') if p[k] > 0), p['workspace'])"
parameter temporary output host_input peak 0

# volta plan shows the plan that volta run uses.
$ volta plan examples/lstm.vt --bind B=2,T=3 --backend island:1 --schedule memory --stream all --text > $TMP/looked-at
$ volta run examples/lstm.vt --bind B=2,T=3 --backend island:1 --schedule memory --stream all --random-inputs 1 --dump-plan $TMP/run --digest
1e8d5208a228231198ef2c07ad1931e58d9f4af8487159adcd22cfee2f060945
$ cmp $TMP/looked-at $TMP/run
$ volta run examples/lstm.vt --bind B=2,T=3 --random-inputs 1 --digest
1e8d5208a228231198ef2c07ad1931e58d9f4af8487159adcd22cfee2f060945

# Memory classes and flags of a plan are those of the run.
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 1 --json --schedule memory --stream w1,b1 --memory-budget 2MB | python3 -c "import json, sys; r = json.load(sys.stdin); print({k: v for k, v in r['plan'].items() if len(str(v)) < 64}); print({k: v for k, v in r['cost'].items() if k != 'wall_ns'})"
{'schedule': 'memory', 'stream': 'w1,b1', 'memory_budget': 2000000}
{'steps': 5, 'bytes_input': 12544, 'bytes_param': 10240, 'bytes_temp': 807936, 'bytes_output': 256, 'bytes_state': 0}
$ volta plan examples/mlp.vt --backend reference --bind B=4 --json --schedule memory --stream w1,b1 --memory-budget 2MB | grep -E 'memory_budget|fits|host_input|parameter|temporary|output'
  "memory_budget": 2000000,
  "fits": true,
  "host_input": 12544,
  "parameter": 10240,
  "temporary": 807936,
  "output": 256,
  "host_parameter": 803840,

# Budgets: one that is met exactly, and one that is exceeded by a byte.
$ volta plan examples/mlp.vt --backend reference --bind B=4 --memory-budget 830976 | grep budget
budget                   830976   811.5 KiB  met
$ volta plan examples/mlp.vt --backend reference --bind B=4 --memory-budget 830975
model mlp on reference:0, B=4
\
class                     bytes
host_input                12544    12.2 KiB
parameter                814080   795.0 KiB
gradient                      0         0 B
optimizer_state               0         0 B
temporary                  4096     4.0 KiB
workspace                     0         0 B
output                      256       256 B
host_parameter                0         0 B
state                         0         0 B
backend_memory                0         0 B
\
peak                     830976   811.5 KiB  on the device
live                     830880   811.4 KiB  the most alive at one time; the peak is 1.0001 times that
budget                   830975   811.5 KiB  NOT MET
\
5 steps of 5 nodes, 2 in place, 0 views, 1 group; dense copies: 0
2 transfers a run: 12544 bytes in, 160 out
most is alive at step 4: logits = matmul(h, w2, transpose_a=false, transpose_b=false, order=fma256)
core   a4e0c5b4c81cae4c3f9711d95a2cc3c493641f762d85215e183e04fc25a3fb80
target bf5a6a72f6b7072e871c345f0af088ff6f727fc296feac71dd30440752c1e9bf
! volta: error: the plan needs 830976 bytes, the budget is 830975 [budget]
!   help: the smallest budget that works is 830976, with --schedule memory 830976, with --stream all 820736, with both 820736
? 1
$ volta plan examples/mlp.vt --backend reference --bind B=4 --memory-budget 830975 --json | tail -n +10 | head -n 9
    "precision": "locked",
    "fallback": "none",
    "mixed_path": "refused",
    "admission": "required",
    "capabilities": "tried"
  },
  "unadmitted": false,
  "fallback": null,
  "schedule": "source",
! volta: error: the plan needs 830976 bytes, the budget is 830975 [budget]
!   help: the smallest budget that works is 830976, with --schedule memory 830976, with --stream all 820736, with both 820736
? 1
$ volta plan examples/mlp.vt --backend reference --bind B=4 --memory-budget 64KiB --schedule memory | grep budget
budget                    65536    64.0 KiB  NOT MET
! volta: error: the plan needs 830976 bytes, the budget is 65536 [budget]
!   help: the smallest budget that works is 830976, with --stream all 820736
? 1
$ volta plan examples/mlp.vt --backend reference --bind B=4 --memory-budget 1kB --schedule memory --stream all | grep budget
budget                     1000      1000 B  NOT MET
! volta: error: the plan needs 820736 bytes, the budget is 1000 [budget]
!   help: the smallest budget that works is 820736
? 1
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 1 --memory-budget 830975
! volta: error: the plan needs 830976 bytes, the budget is 830975 [budget]
!   help: the smallest budget that works is 830976
? 1
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 1 --memory-budget 830976 --digest
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 1 --memory-budget 64KiB
! volta: error: the plan needs 830976 bytes, the budget is 65536 [budget]
!   help: the smallest budget that works is 830976
? 1
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 1 --memory-budget 821000 --stream all --backends reference:0,island:1
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae  reference:0
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae  island:1  40 elements compared, 0 differ
reference:0 = island:1: faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ volta parity examples/tiny_transformer.vt --backends reference:0,reference:1,island:0,island:1 --bind B=2,T=16 --random-inputs 7 --published examples/published.digests --stream all --schedule memory --memory-budget 256KiB | tail -n 1
reference:0 = reference:1 = island:0 = island:1: 23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b; published: 23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b: AGREES

# Sizes.
$ for size in 2000000B 2000kB 2MB 1GB 1TB 2000KiB 2MiB 1GiB 1TiB 9223372036854775807; do volta plan examples/mlp.vt --backend reference --bind B=4 --memory-budget $size | grep budget; done
budget                  2000000     1.9 MiB  met
budget                  2000000     1.9 MiB  met
budget                  2000000     1.9 MiB  met
budget               1000000000   953.7 MiB  met
budget            1000000000000   931.3 GiB  met
budget                  2048000     2.0 MiB  met
budget                  2097152     2.0 MiB  met
budget               1073741824     1.0 GiB  met
budget            1099511627776     1.0 TiB  met
budget           9223372036854775807     8.0 EiB  met
$ volta plan examples/mlp.vt --bind B=4 --memory-budget 9223372036854775808
! volta: error: --memory-budget takes a number of bytes below 2^63, as in 64MiB, 2GB or 4096, not '9223372036854775808' [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --memory-budget 8388608TiB
! volta: error: --memory-budget takes a number of bytes below 2^63, as in 64MiB, 2GB or 4096, not '8388608TiB' [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --memory-budget 64mib
! volta: error: --memory-budget takes a number of bytes below 2^63, as in 64MiB, 2GB or 4096, not '64mib' [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --memory-budget -1
! volta: error: --memory-budget takes a number of bytes below 2^63, as in 64MiB, 2GB or 4096, not '-1' [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --memory-budget 1.5GiB
! volta: error: --memory-budget takes a number of bytes below 2^63, as in 64MiB, 2GB or 4096, not '1.5GiB' [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --memory-budget ''
! volta: error: --memory-budget takes a number of bytes below 2^63, as in 64MiB, 2GB or 4096, not '' [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --memory-budget 0
! volta: error: --memory-budget must be above 0 [usage]
? 2
$ volta run examples/mlp.vt --bind B=4 --memory-budget lots
! volta: error: --memory-budget takes a number of bytes below 2^63, as in 64MiB, 2GB or 4096, not 'lots' [usage]
? 2
$ volta parity examples/mlp.vt --bind B=4 --memory-budget lots
! volta: error: --memory-budget takes a number of bytes below 2^63, as in 64MiB, 2GB or 4096, not 'lots' [usage]
? 2

# Sweeps.
$ volta plan examples/gpt2_124m.vt --backend reference --sweep B=1,2,4,8 --bind T=1024
B      host_input       parameter       temporary          output            peak              peak/live
1            4096       497759232         3145728       205852672       706761728   674.0 MiB     1.0000
2            8192       497759232         6291456       411705344       915764224   873.3 MiB     1.0000
4           16384       497759232        12582912       823410688      1333769216     1.2 GiB     1.0000
8           32768       497759232        25165824      1646821376      2169779200     2.0 GiB     1.0000
$ volta plan examples/gpt2_124m.vt --backend reference --sweep B=1,8 --sweep T=16,1024 --memory-budget 1GiB
B     T      host_input       parameter       temporary          output            peak              peak/live  budget
1    16             256       497759232           49152         3216640       501025280   477.8 MiB     1.0000  met
1  1024            4096       497759232         3145728       205852672       706761728   674.0 MiB     1.0000  met
8    16             512       497759232          393216        25731584       523884544   499.6 MiB     1.0000  met
8  1024           32768       497759232        25165824      1646821376      2169779200     2.0 GiB     1.0000  NOT MET
! volta: error: 1 of 4 plans need more than the budget, 1073741824 bytes [budget]
!   help: the smallest budget that works for all is 2169779200
? 1
$ volta plan examples/mlp.vt --backend reference --sweep B=1,2 --json --memory-budget 1MB
{
  "model": "mlp",
  "bind": {},
  "schedule": "source",
  "stream": null,
  "memory_budget": 1000000,
  "sweep": [
    {
      "bind": {
        "B": 1
      },
      "host_input": 3328,
      "parameter": 814080,
      "gradient": 0,
      "optimizer_state": 0,
      "temporary": 1024,
      "workspace": 0,
      "output": 256,
      "host_parameter": 0,
      "state": 0,
      "backend_memory": 0,
      "peak": 818688,
      "live": 818280,
      "ratio": 1.0004986068338466,
      "fits": true
    },
    {
      "bind": {
        "B": 2
      },
      "host_input": 6400,
      "parameter": 814080,
      "gradient": 0,
      "optimizer_state": 0,
      "temporary": 2048,
      "workspace": 0,
      "output": 256,
      "host_parameter": 0,
      "state": 0,
      "backend_memory": 0,
      "peak": 822784,
      "live": 822480,
      "ratio": 1.0003696138507927,
      "fits": true
    }
  ]
}
$ volta plan examples/mlp.vt --sweep B=1,x
! volta: error: --sweep B: 'x' is not a whole number [bind]
? 2
$ volta plan examples/mlp.vt --sweep B=1,,2
! volta: error: --sweep B: '' is not a whole number [bind]
? 2
$ volta plan examples/mlp.vt --sweep B=
! volta: error: --sweep B: '' is not a whole number [bind]
? 2
$ volta plan examples/mlp.vt --sweep B
! volta: error: --sweep takes NAME=N,N,..., not 'B' [usage]
? 2
$ volta plan examples/mlp.vt --sweep =1
! volta: error: --sweep takes NAME=N,N,..., not '=1' [usage]
? 2
$ volta plan examples/mlp.vt --sweep B=1,-2
! volta: error: the dimension 'B' is bound to -2, outside 0..2^40 [bind]
? 2
$ volta plan examples/mlp.vt --sweep Q=1 --bind B=4
! volta: error: the model has no symbolic dimension 'Q' [bind]
? 2
$ volta plan examples/mlp.vt --sweep B=1 --sweep B=2
! volta: error: --sweep gives 'B' twice [usage]
? 2
$ volta plan examples/mlp.vt --sweep B=1,1
! volta: error: --sweep gives B=1 twice [usage]
? 2
$ volta plan examples/mlp.vt --sweep B=4,2,04,1
! volta: error: --sweep gives B=4 twice [usage]
? 2
$ volta plan examples/mlp.vt --sweep B=1,2 --bind B=4
! volta: error: --bind and --sweep both give 'B' [usage]
? 2
$ volta plan examples/tiny_transformer.vt --sweep B=1,2
! volta: error: the dimension 'T' is not bound [bind]
!   help: add --bind T=VALUE
? 2
$ volta plan examples/tiny_transformer.vt --sweep T=1,9999 --bind B=1
! examples/tiny_transformer.vt:15:12: error: 'places' = slice: axis 0 of f32[256, 64] is sliced up to 9999, its length is 256, with B=1,T=9999 [bind]
!   places = slice(wpe, start=[0, 0], stop=[T, C])
!            ^
? 2
$ volta plan examples/mlp.vt --sweep B=9999999999999999999
! volta: error: --sweep B: '9999999999999999999' is not a whole number [bind]
? 2
$ volta plan examples/tiny_transformer.vt --sweep B=$(seq -s, 1 101) --sweep T=$(seq -s, 1 100)
! volta: error: --sweep asks for more than 10000 plans [usage]
? 2
$ volta plan examples/mlp.vt --sweep A=1 --sweep B=1 --sweep C=1 --sweep D=1 --sweep E=1 --sweep F=1 --sweep G=1 --sweep H=1 --sweep I=1
! volta: error: --sweep is given for more than 8 dims [usage]
? 2

# Impossible bindings: exit 2, and the message names the dimension.
$ volta plan examples/mlp.vt
! volta: error: the dimension 'B' is not bound [bind]
!   help: add --bind B=VALUE
? 2
$ volta plan examples/tiny_transformer.vt --bind B=1
! volta: error: the dimension 'T' is not bound [bind]
!   help: add --bind T=VALUE
? 2
$ volta plan examples/mlp.vt --bind B=-1
! volta: error: the dimension 'B' is bound to -1, outside 0..2^40 [bind]
? 2
$ volta plan examples/mlp.vt --bind B=1099511627777
! volta: error: the dimension 'B' is bound to 1099511627777, outside 0..2^40 [bind]
? 2
$ volta plan examples/mlp.vt --bind B=99999999999999999999
! volta: error: --bind B=99999999999999999999: the size must be a whole number [bind]
? 2
$ volta plan examples/mlp.vt --bind B=1099511627776
! volta: error: 'x': a tensor of 862017116176384 elements is beyond 2^48 bytes, with B=1099511627776 [bind]
? 2
$ volta plan examples/gpt2_124m.vt --backend reference --bind B=99999,T=1024 | grep peak
peak             20900538356736    19.0 TiB  on the device
live             20900538356736    19.0 TiB  the most alive at one time; the peak is 1.0000 times that
$ volta plan examples/gpt2_124m.vt --bind B=1399999,T=1024
! volta: error: 'logits': a tensor of 72048383736832 elements is beyond 2^48 bytes, with B=1399999,T=1024 [bind]
? 2
$ volta plan examples/mlp.vt --bind B=1,B=2
! volta: error: --bind gives 'B' twice [usage]
? 2
$ volta plan examples/mlp.vt --bind B=1 --bind B=1
! volta: error: --bind gives 'B' twice [usage]
? 2
$ volta plan examples/mlp.vt --bind Q=1
! volta: error: the model has no symbolic dimension 'Q' [bind]
? 2
$ volta plan examples/mlp.vt --bind B
! volta: error: --bind takes NAME=N,..., not 'B' [usage]
? 2
$ volta plan examples/tiny_transformer.vt --bind B=1,T=257
! examples/tiny_transformer.vt:15:12: error: 'places' = slice: axis 0 of f32[256, 64] is sliced up to 257, its length is 256, with B=1,T=257 [bind]
!   places = slice(wpe, start=[0, 0], stop=[T, C])
!            ^
? 2
$ volta plan tests/cli/models/wide.vt --bind N=3,M=0
! volta: error: 'w': a dimension becomes -2, outside 0..2^40, with M=0,N=3 [bind]
? 2

# More memory than any machine has: it can be planned, and a run is refused before anything is allocated.
$ volta plan examples/mlp.vt --backend reference --bind B=70000000000 | grep peak
peak             294000000814080   267.4 TiB  on the device
live             294000000814080   267.4 TiB  the most alive at one time; the peak is 1.0000 times that
$ volta run examples/mlp.vt --backend reference --bind B=70000000000 --random-inputs 1 2>&1 | sed 's/has [0-9]* left/has N left/'
volta: error: the program needs 294000000814080 bytes (host_input 219520000000000, parameter 814080, temporary 71680000000000, output 2800000000000) on 'reference:0', which has N left [nomem]
? 6
$ volta run examples/mlp.vt --bind B=70000000000 --random-inputs 1 --out $TMP/none 2> /dev/null
? 6
$ ls $TMP/none
! ls: cannot access '$TMP/none': No such file or directory
? 2

# Other flags.
$ volta plan examples/mlp.vt --bind B=4 --schedule fast
! volta: error: there is no schedule 'fast'; there are: source, memory [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --stream nothing
! volta: error: the model has no param 'nothing' [name]
? 2
$ volta plan examples/mlp.vt --bind B=4 --stream w1,,w2
! volta: error: the list of params to stream has an empty name [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --backend gpu
! volta: error: there is no GPU that a backend of this build can use [backend]
!   help: --fallback cpu runs on the CPU instead, with the same bits
? 5
$ volta plan examples/mlp.vt --backend reference --bind B=4 --passes bind,lower | grep -E 'steps|groups'
5 steps of 5 nodes, 2 in place, 0 views, 0 groups; dense copies: 0
$ volta plan examples/mlp.vt --bind B=4 --passes lower
! volta: error: the pass 'bind' must come first in the list [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --json --text
! volta: error: --json and --text contradict each other [usage]
? 2
$ volta plan examples/mlp.vt --sweep B=4 --text
! volta: error: --sweep and --text contradict each other [usage]
? 2
$ volta plan examples/mlp.vt --sweep B=4 --svg $TMP/x.svg
! volta: error: --sweep and --svg contradict each other [usage]
? 2
$ volta plan examples/mlp.vt --bind B=4 --svg - --json
! volta: error: --svg and --json contradict each other [usage]
? 2
$ volta plan missing.vt
! volta: error: cannot open missing.vt: No such file or directory [io]
? 3
$ volta plan
! volta: error: `volta plan` needs MODEL [usage]
!   help: `volta plan --help` shows what it takes
? 2
$ volta plan tests/golden/error_types.vt 2>&1 | head -n 1 | cut -c 1-60
tests/golden/error_types.vt:5:9: error: 'z' = add: operand 2
? 3

# Pictures.
$ volta plan examples/tiny_transformer.vt --backend reference --bind B=2,T=16 --memory-budget 640KiB --svg $TMP/one.svg | head -n 1
model tiny_transformer on reference:0, B=2 T=16
! wrote $TMP/one.svg
$ cmp $TMP/one.svg docs/plan-tiny_transformer.svg
$ volta plan -q examples/mlp.vt --bind B=4 --svg $TMP/two.svg > /dev/null; volta plan examples/mlp.vt --bind B=4 --svg - | cmp - $TMP/two.svg
$ python3 -c "import sys, xml.dom.minidom as m; d = m.parse('$TMP/one.svg'); t = [x.firstChild.data for x in d.getElementsByTagName('text')]; print([x for x in t if x.startswith(('peak', 'budget', 'most', 'not to scale:'))]); print(len(d.getElementsByTagName('title')) > 60, 'temporary' in t, 'step' in t)"
['most alive at step 62: _71 = mul(_70, _67) @14', 'peak 585.5 KiB, 599552 bytes in all', 'not to scale: budget 640.0 KiB: 54.5 KiB above the peak']
True True True
$ volta plan examples/gpt2_124m.vt --backend reference --bind B=1,T=64 --memory-budget 1MiB --svg - 2> /dev/null | python3 -c "import sys, xml.dom.minidom as m; print(len(m.parse(sys.stdin).getElementsByTagName('rect')) > 500)"
True
? 1
$ volta plan examples/mlp.vt --bind B=4 --svg $TMP/no/such/folder.svg > /dev/null
! volta: error: cannot write $TMP/no/such/folder.svg: No such file or directory [io]
? 3
$ volta plan examples/mlp.vt --bind B=0 --svg - | python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.stdin); print('ok')"
ok
$ volta plan tests/cli/models/fixed.vt --svg - | python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.stdin); print('ok')"
ok
