#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# planted_kernel.sh VOLTA PLUGIN [DRIVER] - a kernel that is not deterministic does not get in. PLUGIN is
# cuda_atomic.so, the CUDA backend but for one kernel: the threads that take part in a long sum add what
# they have as they arrive. Without DRIVER it is on this machine's GPU; DRIVER is the folder of a driver that
# runs kernels on this processor (tests/fake_cuda), where threads arrive in the order that it is told.
set -euo pipefail
volta=$(realpath "$1") plugin=$(realpath "$2") root=$(realpath "$(dirname "$0")/../..")
if [[ -n ${3-} ]]; then export LD_LIBRARY_PATH=$3; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$plugin" cuda_atomic.so # a certificate would lie beside it
plugin=./cuda_atomic.so

fail() {
  echo "FAILED: $*"
  exit 1
}
# expect CODE TEXT COMMAND...: that exit code, and the text in what it says on both streams.
expect() {
  local want=$1 text=$2 code=0
  shift 2
  "$@" >said 2>&1 || code=$?
  if ((code != want)) || ! grep -qF -- "$text" said; then fail "exit $code, not $want with '$text': $*: $(head -c 1500 said)"; fi
}
# said NAME: the value behind a name in what was said.
said() { sed -n "s/^  $1  *//p" said; }
# digests BACKEND: how many there are in eight runs of what would not be let run. The variables are for the
# driver of ours; the threads of a GPU arrive as they like.
digests() {
  local seed
  for seed in {1..8}; do
    FAKE_CUDA_ORDER=shuffle FAKE_CUDA_SEED=$seed "$volta" parity long.vt --random-inputs 7 --backends "reference,$1" \
      --allow-unadmitted --untried 2>&1 | sed -n "s/^\([0-9a-f]\{64\}\)  cuda.*/\1/p"
  done | sort -u | wc -l || true # where bits differ it fails
}
printf 'volta 1\nmodel long {\n  input x: f32[300000]\n  output y = sum(x)\n}\n' >long.vt

# ---- it is what it is said to be: the backend in all but long sums, which have bits of their own each time ----
expect 0 "reference:0 = cuda_atomic.so:0" "$volta" parity "$root/examples/tiny_transformer.vt" --bind B=2,T=16 --random-inputs 7 \
  --backends "reference,$plugin" --allow-unadmitted --untried
own=$(digests cuda) planted=$(digests $plugin)
if ((own != 1)); then fail "the backend itself gives $own digests in eight runs"; fi
if ((planted < 2)); then fail "eight runs of the planted kernel give one digest"; fi

# ---- it is refused, for the op that has the kernel, with what shows it ----
expect 1 "REFUSED: $plugin" "$volta" admit $plugin --jobs 1
if [[ $(head -n 1 said) != "Accelerated backend diverges from CPU semantics. This is forbidden." ]]; then
  fail "the sentence does not come first: $(cat said)"
fi
if [[ $(said op) != sum ]]; then fail "the op is '$(said op)', not sum: $(cat said)"; fi
if [[ -z $(said element) || -z $(said "shows it") ]]; then fail "nothing shows it: $(cat said)"; fi
if [[ -e $plugin.certificate.json ]]; then fail "it has a certificate"; fi
check=$(said check)

# ---- and it does not run: without a certificate, and where none is asked for, when its sums are tried ----
expect 5 "is not admitted" "$volta" run long.vt --random-inputs 7 --backend $plugin
for try in 1 2 3; do # three numbers may come out right by chance
  code=0
  "$volta" run long.vt --random-inputs 7 --backend $plugin --allow-unadmitted >said 2>&1 || code=$?
  if ((code == 5)) && grep -qF "declares deterministic_reductions and does not keep it: sum" said; then break; fi
  if ((try == 3)); then fail "it runs: exit $code: $(head -c 600 said)"; fi
done
echo "planted kernel: refused by $check, op sum; $planted digests in eight runs, the backend itself has $own"
