# There is no fallback unless it is asked for; its warning on standard error is in the report too.
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend reference
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ VOLTA_BACKEND=nosuch volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest
! volta: error: there is no backend 'nosuch'; there are: reference, cpu, cuda, island, null, and gpu, auto [backend]
? 5
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend nosuch --fallback none
! volta: error: there is no backend 'nosuch'; there are: reference, cpu, cuda, island, null, and gpu, auto [backend]
? 5
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend nosuch --fallback cpu
! volta: error: there is no backend 'nosuch'; there are: reference, cpu, cuda, island, null, and gpu, auto [backend]
? 5
$ VOLTA_BACKEND=nosuch volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --fallback cpu
! volta: error: there is no backend 'nosuch'; there are: reference, cpu, cuda, island, null, and gpu, auto [backend]
? 5
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend null --fallback cpu
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
! volta: FALLBACK to cpu:0: backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --json --backend null --fallback cpu | grep -E '"(backend|fallback|determinism|precision|mixed_path|admission|unadmitted|run)":'
  "backend": "cpu:0",
    "determinism": "strict",
    "precision": "locked",
    "fallback": "cpu",
    "mixed_path": "refused",
    "admission": "required",
  "unadmitted": false,
  "fallback": "backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels"
! volta: FALLBACK to cpu:0: backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels
$ volta plan examples/mlp.vt --bind B=4 --backend null
! volta: error: backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels [unsupported]
? 4
$ volta plan examples/mlp.vt --bind B=4 --backend null --fallback cpu --json | grep -E '"(backend|fallback|unadmitted)":'
  "backend": "cpu:0",
    "fallback": "cpu",
  "unadmitted": false,
  "fallback": "backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels",
! volta: FALLBACK to cpu:0: backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels

# It runs on a GPU if there is one, else on the CPU, and prints the same.
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend gpu --fallback cpu 2>$TMP/why
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ VOLTA_BACKEND=gpu volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --fallback cpu 2>$TMP/why
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend auto
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae

# There is no fallback after an error that every device would have.
$ volta run examples/mlp.vt --random-inputs 1 --backend null --fallback cpu
! volta: error: the dimension 'B' is not bound [bind]
!   help: add --bind B=VALUE
? 2
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --backend null --fallback cpu --memory-budget 10
! volta: error: the plan needs 830976 bytes, the budget is 10 [budget]
!   help: the smallest budget that works is 830976
? 1
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --backend null --fallback cpu --schedule backwards
! volta: error: there is no schedule 'backwards'; there are: source, memory [usage]
? 2
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --fallback gpu
! volta: error: --fallback takes none or cpu, not 'gpu' [usage]
? 2

# A cache has separate plans for each backend.
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend null --fallback cpu --plan-cache $TMP/plans
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
! volta: FALLBACK to cpu:0: backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend island --plan-cache $TMP/plans
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend null --fallback cpu --plan-cache $TMP/plans
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
! volta: FALLBACK to cpu:0: backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels

# The number of threads changes no bit; it must be a number.
$ VOLTA_THREADS=3 volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ VOLTA_THREADS=0 volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest
! volta: error: VOLTA_THREADS is a number from 1 to 4096, not '0' [usage]
? 2
$ VOLTA_THREADS=many volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest
! volta: error: VOLTA_THREADS is a number from 1 to 4096, not 'many' [usage]
? 2
$ VOLTA_THREADS=4097 volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest
! volta: error: VOLTA_THREADS is a number from 1 to 4096, not '4097' [usage]
? 2
$ VOLTA_THREADS=many volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --threads 2
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --threads 0
! volta: error: --threads takes a number from 1 to 4096, not '0' [usage]
? 2
$ VOLTA_ISA=a_set_of_instructions_that_is_long volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest
! volta: error: there is no instruction set 'a_set_of_instructions_that_is_long' [usage]
? 2
$ volta run examples/mlp.vt --bind B=1 --random-inputs 1 --backend auto --fallback none
! volta: error: --backend auto and --fallback none contradict each other [usage]
!   help: name a backend, as in --backend gpu
? 2
$ volta run examples/mlp.vt --bind B=1 --random-inputs 1 --fallback none
! volta: error: --backend auto, which is the default, and --fallback none contradict each other [usage]
!   help: name a backend, as in --backend gpu
? 2
$ VOLTA_BACKEND=auto volta plan examples/mlp.vt --bind B=1 --fallback none
! volta: error: --backend auto and --fallback none contradict each other [usage]
!   help: name a backend, as in --backend gpu
? 2
$ VOLTA_BACKEND=reference volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --fallback none
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae

# If no backend is named, the CPU runs where there is no GPU, which is no fallback. VOLTA_BACKEND overrides the default,
# and the flag overrides both.
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --json | grep -E '"(backend|fallback)":'
  "backend": "cpu:0",
    "fallback": "cpu",
  "fallback": null
$ VOLTA_BACKEND= volta plan examples/mlp.vt --bind B=4 --json | grep -E '"(backend|fallback)":'
  "backend": "cpu:0",
    "fallback": "cpu",
  "fallback": null,
$ VOLTA_BACKEND=reference volta run examples/mlp.vt --bind B=4 --random-inputs 1 --json | grep '"backend":'
  "backend": "reference:0",
$ VOLTA_BACKEND=reference volta plan examples/mlp.vt --bind B=4 --json --backend island | grep '"backend":'
  "backend": "island:0",

# Only a terminal is told the choice, only if none was named, and once.
$ script -qec 'volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest' /dev/null | sed 's/ ([^)]*)/ (DEVICE)/' | tr -d '\r'
backend: cpu:0 (DEVICE), because none was named
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ script -qec 'volta plan examples/mlp.vt --sweep B=4,5 | wc -l' /dev/null | tr -d '\r'
backend: cpu:0, because none was named
3
$ script -qec 'volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest -q' /dev/null | tr -d '\r'
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ script -qec 'volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest --backend auto' /dev/null | tr -d '\r'
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ script -qec 'VOLTA_BACKEND=auto volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest' /dev/null | tr -d '\r'
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
$ script -qec 'volta run examples/mlp.vt --bind B=4 --random-inputs 1 --digest 2>/dev/null' /dev/null | tr -d '\r'
faaee8d31ad5acb53dadff146e9883f2048298a34e0f833537eb86c8ce9c46ae
