# The plan cache: stored plans are found again, and no result changes.
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache $TMP/plans -v 2>&1 | grep -v " GFLOP/s$\|^bytes"
plan: made anew
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache $TMP/plans -v 2>&1 | grep -v " GFLOP/s$\|^bytes"
plan: found on disk
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ ls $TMP/plans | sed 's/^[0-9a-f]\{32\}\./N./'
N.plan
$ stat -c %a $TMP/plans $TMP/plans/*
700
600
# A plan depends on bindings and backend.
$ volta run examples/mlp.vt --backend reference --bind B=5 --random-inputs 7 --digest --plan-cache $TMP/plans -v 2>&1 | grep plan:
plan: made anew
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,reference:1,island:0,island:1 --plan-cache $TMP/plans -v 2>&1 | grep plan:
plan: found on disk
plan: made anew
plan: made anew
plan: made anew
$ volta parity examples/mlp.vt --bind B=4 --random-inputs 7 --backends reference:0,reference:1,island:0,island:1 --plan-cache $TMP/plans -v 2>&1 | grep plan:
plan: found on disk
plan: found on disk
plan: found on disk
plan: found on disk
$ ls $TMP/plans | wc -l
5
# The verb plan finds plans that run has stored, and run those of plan.
$ volta plan examples/mlp.vt --backend reference --bind B=4 --plan-cache $TMP/plans -v 2>&1 | grep plan:
plan: found on disk
$ volta plan examples/mlp.vt --backend reference --bind B=4 --schedule memory --text --plan-cache $TMP/plans >$TMP/made
$ volta plan examples/mlp.vt --backend reference --bind B=4 --schedule memory --text --plan-cache $TMP/plans -v >$TMP/found
! plan: found on disk
$ volta plan examples/mlp.vt --backend reference --bind B=4 --schedule memory --text | cmp - $TMP/made && cmp $TMP/made $TMP/found
$ volta plan examples/mlp.vt --backend reference --sweep B=1,4 --plan-cache $TMP/plans -v 2>&1 | grep plan:
plan: made anew
plan: found on disk

# The variable VOLTA_PLAN_CACHE: the flag overrides it, and an empty value turns the cache off.
$ VOLTA_PLAN_CACHE=$TMP/plans volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest -v 2>&1 | grep plan:
plan: found on disk
$ VOLTA_PLAN_CACHE=$TMP/plans volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache $TMP/other -v 2>&1 | grep plan:
plan: made anew
$ VOLTA_PLAN_CACHE=$TMP/plans volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache= -v 2>&1 | grep -c plan:
0
? 1
# Passes are dumped without a cache.
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --dump-passes $TMP/dump --plan-cache $TMP/plans -v 2>&1 | grep -c plan:
0
? 1
$ ls $TMP/dump | head -3
00-source.vt
01-bind.vt
02-lower.vt
# The plan is the same.
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --dump-plan $TMP/fresh --digest
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --dump-plan $TMP/kept --digest --plan-cache $TMP/plans
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ cmp $TMP/fresh $TMP/kept
# A damaged file is ignored with a warning and replaced; -q is quiet about it.
$ for f in $TMP/other/*; do printf x >>$f; done
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache $TMP/other 2>&1 | sed 's/[0-9a-f]\{32\}\.plan/N.plan/'
volta: warning: the cached plan is ignored, N.plan: it is damaged: its checksum is wrong
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache $TMP/other
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ for f in $TMP/other/*; do printf x >>$f; done
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache $TMP/other -q
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
# A folder is not used if others may write to it, if it is a link, or if it cannot be created.
$ chmod 777 $TMP/other && volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache $TMP/other
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
! volta: warning: no plans are cached in $TMP/other: others than its owner may write to it
$ ln -s plans $TMP/link && volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache $TMP/link/
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
! volta: warning: no plans are cached in $TMP/link/: it cannot be opened: Not a directory
$ volta run examples/mlp.vt --backend reference --bind B=4 --random-inputs 7 --digest --plan-cache $TMP/no/where
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
! volta: warning: no plans are cached in $TMP/no/where: it cannot be made: No such file or directory
# The error of a failing run names line and column of the model's file, also with a cached plan.
$ printf 'volta 1\nmodel m {\n  input i: i32[2] in 0..7\n  param w: f32[4, 3] = zeros\n\n  output y = gather(w, i)\n}\n' >$TMP/bad.vt
$ volta run $TMP/bad.vt --backend reference --random-inputs 3 --plan-cache $TMP/plans
! $TMP/bad.vt:6:14: error: 'y' = gather: index 5 at position 1 is out of range [range]
!   output y = gather(w, i)
!              ^
? 3
$ volta run $TMP/bad.vt --backend reference --random-inputs 3 --plan-cache $TMP/plans -v
! plan: found on disk
! $TMP/bad.vt:6:14: error: 'y' = gather: index 5 at position 1 is out of range [range]
!   output y = gather(w, i)
!              ^
? 3
