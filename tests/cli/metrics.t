# Metrics of a run: totals, ops and steps, which add up; and the trace of the same run for Perfetto.
$ volta run examples/tiny_transformer.vt --backend reference --bind B=2,T=16 --random-inputs 7 --digest --metrics $TMP/m.json --trace $TMP/t.json
23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b
$ python3 -B tests/cli/check_trace.py $TMP/t.json $TMP/m.json
2 copy, 5 name, 24 phase, 1 run, 140 step
# Metrics do not change the digest.
$ volta run examples/tiny_transformer.vt --backend reference --bind B=2,T=16 --random-inputs 7 --digest
23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b
# Copies of views have rows of their own, and parameters in host memory have rows for their transfers.
$ volta run examples/tiny_transformer.vt --bind B=2,T=16 --random-inputs 7 --backend island:1 --stream all --digest --metrics $TMP/m.json --trace $TMP/t.json
23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b
$ python3 -B tests/cli/check_trace.py $TMP/t.json $TMP/m.json
39 copy, 5 name, 25 phase, 1 run, 148 step
$ python3 -c "import json; r = json.load(open('$TMP/m.json')); print([o['count'] for o in r['ops'] if o['op'] == 'dense copy'], r['metrics']['to_device'], r['metrics']['copies_to_device'], r['metrics']['allocations'])"
[8] 515200 38 0
$ volta run examples/lstm.vt --backend reference --bind B=2,T=16 --random-inputs 7 --digest --metrics $TMP/m.json --trace $TMP/t.json
6b85176db63a9f76567f6ccaba09d641c71b336d1be57cb8bb688b564d991582
$ python3 -B tests/cli/check_trace.py $TMP/t.json $TMP/m.json
2 copy, 5 name, 24 phase, 1 run, 12 step

# The whole report without its times.
$ volta run tests/cli/models/small.vt --backend reference --bind B=2 --random-inputs 1 --metrics - | sed -E 's/"(wall_ns|begin_ns|g[a-z]+_per_second)": [0-9.e-]+/"\1": 0/' | python3 -c "import json, sys; r = json.load(sys.stdin); print(list(r)); print(r['metrics']); print([p['name'] for p in r['phases']]); [print(o['op'], o['count'], o['timed'], o['flops'], o['bytes_read'], o['bytes_written']) for o in sorted(r['ops'], key=lambda o: o['op'])]; [print(s) for s in r['steps']]"
['model', 'hash', 'backend', 'device', 'bind', 'parameters', 'random_inputs', 'plan', 'digest', 'policy', 'unadmitted', 'fallback', 'metrics', 'phases', 'ops', 'steps']
{'runs': 1, 'wall_ns': 0, 'flops': 28, 'bytes_read': 68, 'bytes_written': 36, 'to_device': 24, 'from_device': 32, 'copies_to_device': 1, 'copies_from_device': 2, 'allocations': 0, 'gflops_per_second': 0, 'gbytes_per_second': 0}
['device', 'bind', 'lower', 'canonical', 'fold', 'cse', 'dead', 'fuse', 'state', 'plan', 'check', 'open', 'program', 'bind', 'lower', 'canonical', 'fold', 'cse', 'dead', 'fuse', 'state', 'plan', 'open', 'parameters']
literal 1 1 0 0 4
matmul 1 1 24 48 16
maximum 1 1 4 20 16
{'step': 0, 'name': 'y', 'op': 'matmul', 'type': 'f32[2, 2]', 'dense_copy': False, 'group': 0, 'begin_ns': 0, 'wall_ns': 0, 'flops': 24, 'bytes_read': 48, 'bytes_written': 16}
{'step': 1, 'name': '_1', 'op': 'literal', 'type': 'f32[]', 'dense_copy': False, 'group': 0, 'begin_ns': 0, 'wall_ns': 0, 'flops': 0, 'bytes_read': 0, 'bytes_written': 4}
{'step': 2, 'name': 'a', 'op': 'maximum', 'type': 'f32[2, 2]', 'dense_copy': False, 'group': 0, 'begin_ns': 0, 'wall_ns': 0, 'flops': 4, 'bytes_read': 20, 'bytes_written': 16}
$ volta run tests/cli/models/small.vt --backend reference --bind B=2 --random-inputs 1 --trace - | python3 -c "import json, sys; r = json.load(sys.stdin); print(list(r), r['displayTimeUnit'], r['otherData']['policy']['determinism']); [print(e['ph'], e['name'], e['tid']) for e in r['traceEvents'] if e['ph'] == 'M' or e['cat'] != 'phase']"
['displayTimeUnit', 'otherData', 'traceEvents'] ns strict
M process_name 0
M thread_name 1
M thread_name 2
M thread_name 3
M thread_name 4
X x in 2
X run 3
X y = matmul 4
X _1 = literal 4
X a = maximum 4
$ volta run tests/cli/models/small.vt --backend reference --bind B=2 --random-inputs 1 --json | python3 -c "import json, sys; r = json.load(sys.stdin); print(list(r['metrics']), r['metrics']['flops'], r['metrics']['allocations'])"
['runs', 'wall_ns', 'flops', 'bytes_read', 'bytes_written', 'to_device', 'from_device', 'copies_to_device', 'copies_from_device', 'allocations', 'gflops_per_second', 'gbytes_per_second'] 28 0

# Only one report can go to standard output; outputs are written in any case.
$ volta run tests/cli/models/small.vt --backend reference --bind B=2 --random-inputs 1 --metrics - --out $TMP/out > $TMP/m.json; ls $TMP/out
a.npy
y.npy
! wrote $TMP/out/a.npy
! wrote $TMP/out/y.npy
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --metrics - --json
! volta: error: --metrics and --json contradict each other [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --trace - --digest
! volta: error: --trace and --digest contradict each other [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --trace - --metrics -
! volta: error: --metrics and --trace contradict each other [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --trace - --dump-plan -
! volta: error: --trace and --dump-plan contradict each other [usage]
? 2

# A report is written completely or not at all, and a failed run writes none.
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --digest --metrics $TMP/none/m.json
! volta: error: cannot write $TMP/none/m.json: No such file or directory [io]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --digest --trace $TMP
! volta: error: $TMP cannot be opened for writing: Is a directory [io]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --digest --trace /dev/full
! volta: error: /dev/full cannot be written: No space left on device [io]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --metrics $TMP/failed.json; ls $TMP/failed.json 2>/dev/null | wc -l
0
! volta: error: the input 'x' has no value [name]
!   help: give --in x=FILE.npy or --random-inputs SEED
? 2
# Two reports cannot have the same file.
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --metrics $TMP/same.json --trace $TMP/same.json; ls $TMP/same.json 2>/dev/null | wc -l
0
! volta: error: --metrics and --trace both write '$TMP/same.json' [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --save-params $TMP/same.npz --trace $TMP/./same.npz
! volta: error: --trace and --save-params both write '$TMP/./same.npz' [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --dump-plan same.json --metrics ./same.json
! volta: error: --metrics and --dump-plan both write './same.json' [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --dump-plan $TMP/a --metrics $TMP/folder/../a
! volta: error: cannot write $TMP/folder/../a: No such file or directory [io]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --digest --metrics /dev/null --trace /dev/null --dump-plan /dev/null | wc -l
1
