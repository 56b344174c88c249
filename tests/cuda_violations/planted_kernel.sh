#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# planted_kernel.sh VOLTA PLUGIN [DRIVER] - a kernel that is not deterministic is not admitted.
# PLUGIN is cuda_atomic.so, the CUDA backend with one planted fault: the threads of a long sum add
# their terms in the order in which they arrive. Without DRIVER it runs on this machine's GPU;
# DRIVER is the folder of the emulated driver (tests/fake_cuda), in which the order of threads is
# configurable.
set -euo pipefail
volta=$(realpath "$1") plugin=$(realpath "$2") root=$(realpath "$(dirname "$0")/../..")
if [[ -n ${3-} ]]; then export LD_LIBRARY_PATH=$3; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$plugin" cuda_atomic.so # a copy, because a certificate would be stored next to it
plugin=./cuda_atomic.so

fail() {
  echo "FAILED: $*"
  exit 1
}
# expect CODE TEXT COMMAND...: checks the exit code and a text on either output stream
expect() {
  local want=$1 text=$2 code=0
  shift 2
  "$@" >said 2>&1 || code=$?
  if ((code != want)) || ! grep -qF -- "$text" said; then fail "exit $code, not $want with '$text': $*: $(head -c 1500 said)"; fi
}
# said NAME: prints the value in the line NAME of the last command's output
said() { sed -n "s/^  $1  *//p" said; }
# digests BACKEND: number of different digests in eight runs without admission and probes. It sets
# the thread order of the emulated driver; on a GPU the order of threads varies by itself.
digests() {
  local seed
  for seed in {1..8}; do
    FAKE_CUDA_ORDER=shuffle FAKE_CUDA_SEED=$seed "$volta" parity long.vt --random-inputs 7 --backends "reference,$1" \
      --allow-unadmitted --untried 2>&1 | sed -n "s/^\([0-9a-f]\{64\}\)  cuda.*/\1/p"
  done | sort -u | wc -l || true # parity fails if bits differ
}
printf 'volta 1\nmodel long {\n  input x: f32[300000]\n  output y = sum(x)\n}\n' >long.vt

# ---- the plug-in equals the backend, except for long sums, whose bits vary ----
expect 0 "reference:0 = cuda_atomic.so:0" "$volta" parity "$root/examples/tiny_transformer.vt" --bind B=2,T=16 --random-inputs 7 \
  --backends "reference,$plugin" --allow-unadmitted --untried
own=$(digests cuda) planted=$(digests $plugin)
if ((own != 1)); then fail "the backend itself gives $own digests in eight runs"; fi
if ((planted < 2)); then fail "eight runs of the planted kernel give one digest"; fi

# ---- admission rejects it, for the op with the planted kernel, with a counterexample ----
expect 1 "REFUSED: $plugin" "$volta" admit $plugin --jobs 1
if [[ $(head -n 1 said) != "Accelerated backend diverges from CPU semantics. This is forbidden." ]]; then
  fail "the sentence does not come first: $(cat said)"
fi
if [[ $(said op) != sum ]]; then fail "the op is '$(said op)', not sum: $(cat said)"; fi
if [[ -z $(said element) || -z $(said "shows it") ]]; then fail "nothing shows it: $(cat said)"; fi
if [[ -e $plugin.certificate.json ]]; then fail "it has a certificate"; fi
check=$(said check)

# ---- it does not run without a certificate, nor without admission, because probes find its sums
# ----
expect 5 "is not admitted" "$volta" run long.vt --random-inputs 7 --backend $plugin
for try in 1 2 3; do # a probe's few sums may be right by chance
  code=0
  "$volta" run long.vt --random-inputs 7 --backend $plugin --allow-unadmitted >said 2>&1 || code=$?
  if ((code == 5)) && grep -qF "declares deterministic_reductions and does not keep it: sum" said; then break; fi
  if ((try == 3)); then fail "it runs: exit $code: $(head -c 600 said)"; fi
done
echo "planted kernel: refused by $check, op sum; $planted digests in eight runs, the backend itself has $own"
