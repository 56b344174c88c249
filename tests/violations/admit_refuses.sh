#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# admit_refuses.sh VOLTA FOLDER - tests how `volta admit` refuses a wrong backend: the fixed sentence
# first, exit 1, no certificate, and a reproducer whose command shows the same element again. FOLDER
# holds the plug-ins of tests/violations. Admission runs with --short unless VOLTA_TEST_FULL is set.
set -euo pipefail
volta=$(realpath "$1") plugins=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$volta" "$work/bin/volta" # the command that is printed says `volta`
export PATH=$work/bin:$PATH

form=(--short)
if [[ -n ${VOLTA_TEST_FULL:-} ]]; then form=(); fi

failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
# said NAME: prints the value after this name in the output of `volta admit`.
said() { sed -n "s/^  $1  *//p" "$work/said"; }

# refused NAME OP [OPTION...]: `volta admit` must refuse the backend NAME because of OP, and the
# reproducer that it writes must show the same element again.
refused() {
  local name=$1 op=$2 code=0 folder command element has
  cp "$plugins/$name.so" .
  echo '{}' >"$name.so.certificate.json" # an earlier certificate, which the refusal must remove
  volta admit "./$name.so" --jobs 1 "${@:3}" >"$work/said" 2>"$work/errors" || code=$?
  if ((code != 1)); then fail "$name: exit $code, not 1: $(cat "$work/said" "$work/errors")"; fi
  if [[ $(head -n 1 "$work/said") != "Accelerated backend diverges from CPU semantics. This is forbidden." ]]; then
    fail "$name: the output does not start with the sentence: $(cat "$work/said")"
  fi
  if ! grep -qxF "REFUSED: ./$name.so" "$work/said"; then fail "$name: the output has no verdict: $(cat "$work/said")"; fi
  if [[ $(said op) != "$op" ]]; then fail "$name: the op is '$(said op)', not $op"; fi
  if [[ -e $name.so.certificate.json ]]; then fail "$name: the certificate was not removed"; fi
  folder=$(said written) command=$(said "shows it") element=$(said element) has=$(said has)
  if [[ -z $element || -z $has || ! -f $folder/model.vt || -z $command ]]; then
    fail "$name: there is no reproducer: $(cat "$work/said")"
    return
  fi
  code=0
  (cd "$folder" && bash -c "$command") >"$work/again" 2>&1 || code=$?
  if ((code != 1)); then fail "$name: exit $code, not 1: $command: $(cat "$work/again")"; fi
  if ! grep -qF "first $element: reference:0 has" "$work/again" || ! grep -qF "has $has" "$work/again"; then
    fail "$name: the reproducer does not show $element $has: $(cat "$work/again")"
  fi
  # The command of the reproducer also works from another folder, if it names the plug-in by its path.
  code=0
  mv "$folder" "$work/elsewhere"
  (cd "$work/elsewhere" && bash -c "${command//..\/$name.so/$plugins/$name.so}") >/dev/null 2>&1 || code=$?
  if ((code != 1)); then fail "$name: exit $code, not 1, from another folder"; fi
  rm -r "$work/elsewhere"
}

# refused_without_model NAME: `volta admit` must refuse the backend NAME, whose fault no single model
# reproduces. It must still write the model, its inputs, the element, and the command to try again.
refused_without_model() {
  local name=$1 code=0 folder again element
  cp "$plugins/$name.so" .
  volta admit "./$name.so" --short --jobs 1 >"$work/said" 2>"$work/errors" || code=$?
  if ((code != 1)); then fail "$name: exit $code, not 1: $(cat "$work/said" "$work/errors")"; fi
  folder=$(said written) again=$(said again) element=$(said element)
  if [[ ! -f $folder/model.vt || ! -f $folder/x.npy || -z $element ]]; then
    fail "$name: the model, its input or the element is missing: $(cat "$work/said")"
    return
  fi
  if [[ $again != "volta admit ./$name.so --short --jobs 1" ]] || ! grep -qxF "  $again" "$folder/README.txt" ||
    ! grep -qxF "result     $element" "$folder/README.txt"; then
    fail "$name: the command to try again is not printed and written: $again: $(cat "$folder/README.txt")"
  fi
  if grep -q "shows it" "$work/said"; then fail "$name: the output claims that a model reproduces the fault"; fi
  if [[ $name != remembers && -z ${VOLTA_TEST_FULL:-} ]]; then return; fi
  code=0
  bash -c "$again --reproducer $work/again-$name" >"$work/second" 2>/dev/null || code=$?
  if ((code != 1)) || ! grep -qF "element  $element" "$work/second"; then fail "$name: the second admission does not find the same element"; fi
}

mkdir "$work/folder"
cd "$work/folder"
refused contracted mul+add "${form[@]}"
refused wide_accumulation matmul "${form[@]}"
refused minus_zero_lost neg "${form[@]}"
refused thread_dependent matmul --short # the reproducer must choose a thread count that shows the fault
refused lying_capability div "${form[@]}" # although capabilities are not the first check
refused collisions_lost scatter_nd_add "${form[@]}"
refused_without_model stale_workspace
refused_without_model second_run
refused_without_model remembers

# A refused backend cannot run a model.
printf 'volta 1\nmodel m {\n  input x: f32[3]\n  output y = x + x\n}\n' >m.vt
code=0
volta run m.vt --random-inputs 1 --backend ./contracted.so >"$work/said" 2>&1 || code=$?
if ((code != 5)) || ! grep -q "is not admitted" "$work/said"; then fail "a refused backend runs a model: exit $code: $(cat "$work/said")"; fi

# A backend that crashes is refused like any other, and loses its certificate. The crash is a signal
# that this script sends to the process in which `volta admit` runs the backend.
cp "$plugins/faultless.so" crashing.so
echo '{}' >crashing.so.certificate.json
volta admit ./crashing.so --short --jobs 1 >"$work/said" 2>&1 &
watcher=$!
for _ in {1..100}; do
  child=$(cat "/proc/$watcher/task/$watcher/children" 2>/dev/null || true)
  if [[ -n $child ]]; then break; fi
  sleep 0.05
done
sleep 0.5
kill -SEGV "${child% }" || fail "volta admit started no process for the backend"
code=0
wait "$watcher" || code=$?
if ((code != 1)) || ! grep -q "reason   it crashes: SIGSEGV" "$work/said"; then
  fail "a backend that crashes is not refused: exit $code: $(cat "$work/said")"
fi
if [[ -e crashing.so.certificate.json ]]; then fail "a backend that crashed keeps its certificate"; fi

# The verdict is printed even if the certificate cannot be written. This runs the whole admission.
if [[ -n ${VOLTA_TEST_FULL:-} && -w /dev/full ]]; then
  cp "$plugins/faultless.so" .
  code=0
  volta admit ./faultless.so -o /dev/full >"$work/said" 2>&1 || code=$?
  if ((code != 3)) || ! grep -qxF "ADMITTED: ./faultless.so" "$work/said"; then fail "the verdict is lost: exit $code: $(cat "$work/said")"; fi
fi

if ((failed)); then exit 1; fi
echo "nine wrong backends were refused; each has a reproducer or the command to try again"
