#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# admit_refuses.sh VOLTA FOLDER - what `volta admit` says of a wrong backend: the sentence first, exit
# 1, no certificate, and a reproducer whose command shows the same element again. FOLDER holds the
# plug-ins of tests/violations. They are asked in short form; with VOLTA_TEST_FULL everything.
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
# said NAME: the value behind a name in what was said.
said() { sed -n "s/^  $1  *//p" "$work/said"; }

# refused NAME OP [OPTION]: refused, and what was written shows it again.
refused() {
  local name=$1 op=$2 code=0 folder command element has
  cp "$plugins/$name.so" .
  echo '{}' >"$name.so.certificate.json" # of better days: it is withdrawn
  volta admit "./$name.so" --jobs 1 "${@:3}" >"$work/said" 2>"$work/errors" || code=$?
  if ((code != 1)); then fail "$name: exit $code, not 1: $(cat "$work/said" "$work/errors")"; fi
  if [[ $(head -n 1 "$work/said") != "Accelerated backend diverges from CPU semantics. This is forbidden." ]]; then
    fail "$name: the sentence does not come first: $(cat "$work/said")"
  fi
  if ! grep -qxF "REFUSED: ./$name.so" "$work/said"; then fail "$name: no verdict: $(cat "$work/said")"; fi
  if [[ $(said op) != "$op" ]]; then fail "$name: the op is '$(said op)', not $op"; fi
  if [[ -e $name.so.certificate.json ]]; then fail "$name: it has a certificate"; fi
  folder=$(said written) command=$(said "shows it") element=$(said element) has=$(said has)
  if [[ -z $element || -z $has || ! -f $folder/model.vt || -z $command ]]; then
    fail "$name: nothing shows it: $(cat "$work/said")"
    return
  fi
  code=0
  (cd "$folder" && bash -c "$command") >"$work/again" 2>&1 || code=$?
  if ((code != 1)); then fail "$name: exit $code, not 1: $command: $(cat "$work/again")"; fi
  if ! grep -qF "first $element: reference:0 has" "$work/again" || ! grep -qF "has $has" "$work/again"; then
    fail "$name: $element $has is not what the reproducer shows: $(cat "$work/again")"
  fi
  # The files are enough: the folder may be moved, as long as the plug-in is named.
  code=0
  mv "$folder" "$work/elsewhere"
  (cd "$work/elsewhere" && bash -c "${command//..\/$name.so/$plugins/$name.so}") >/dev/null 2>&1 || code=$?
  if ((code != 1)); then fail "$name: exit $code, not 1, from another folder"; fi
  rm -r "$work/elsewhere"
}

# seen_once NAME: no model alone shows it; what was seen and where is written all the same,
# with the command that asks again.
seen_once() {
  local name=$1 code=0 folder again element
  cp "$plugins/$name.so" .
  volta admit "./$name.so" --short --jobs 1 >"$work/said" 2>"$work/errors" || code=$?
  if ((code != 1)); then fail "$name: exit $code, not 1: $(cat "$work/said" "$work/errors")"; fi
  folder=$(said written) again=$(said again) element=$(said element)
  if [[ ! -f $folder/model.vt || ! -f $folder/x.npy || -z $element ]]; then
    fail "$name: nothing is written: $(cat "$work/said")"
    return
  fi
  if [[ $again != "volta admit ./$name.so --short --jobs 1" ]] || ! grep -qxF "  $again" "$folder/README.txt" ||
    ! grep -qxF "result     $element" "$folder/README.txt"; then
    fail "$name: neither said nor written what asks again: $again: $(cat "$folder/README.txt")"
  fi
  if grep -q "shows it" "$work/said"; then fail "$name: it is said that a model shows it"; fi
  if [[ $name != remembers && -z ${VOLTA_TEST_FULL:-} ]]; then return; fi
  code=0
  bash -c "$again --reproducer $work/again-$name" >"$work/second" 2>/dev/null || code=$?
  if ((code != 1)) || ! grep -qF "element  $element" "$work/second"; then fail "$name: it is not seen again"; fi
}

mkdir "$work/here"
cd "$work/here"
refused contracted mul+add "${form[@]}"
refused wide_accumulation matmul "${form[@]}"
refused minus_zero_lost neg "${form[@]}"
refused thread_dependent matmul --short # with a number of threads that shows it
refused lying_capability div "${form[@]}" # though what it declares is not tried first
refused collisions_lost scatter_nd_add "${form[@]}"
seen_once stale_workspace
seen_once second_run
seen_once remembers

# A refusal lets nobody in.
printf 'volta 1\nmodel m {\n  input x: f32[3]\n  output y = x + x\n}\n' >m.vt
code=0
volta run m.vt --random-inputs 1 --backend ./contracted.so >"$work/said" 2>&1 || code=$?
if ((code != 5)) || ! grep -q "is not admitted" "$work/said"; then fail "it is let in: exit $code: $(cat "$work/said")"; fi

# A backend that crashes is refused like any other, and loses its certificate: here somebody else ends the
# judging process.
cp "$plugins/virtue.so" crashing.so
echo '{}' >crashing.so.certificate.json
volta admit ./crashing.so --short --jobs 1 >"$work/said" 2>&1 &
watcher=$!
for _ in {1..100}; do
  child=$(cat "/proc/$watcher/task/$watcher/children" 2>/dev/null || true)
  if [[ -n $child ]]; then break; fi
  sleep 0.05
done
sleep 0.5
kill -SEGV "${child% }" || fail "there is no process that judges"
code=0
wait "$watcher" || code=$?
if ((code != 1)) || ! grep -q "reason   it crashes: SIGSEGV" "$work/said"; then
  fail "a crash is not a refusal: exit $code: $(cat "$work/said")"
fi
if [[ -e crashing.so.certificate.json ]]; then fail "a backend that crashed keeps its certificate"; fi

# A certificate that cannot be written does not take the verdict with it. This asks everything.
if [[ -n ${VOLTA_TEST_FULL:-} && -w /dev/full ]]; then
  cp "$plugins/virtue.so" .
  code=0
  volta admit ./virtue.so -o /dev/full >"$work/said" 2>&1 || code=$?
  if ((code != 3)) || ! grep -qxF "ADMITTED: ./virtue.so" "$work/said"; then fail "the verdict is lost: exit $code: $(cat "$work/said")"; fi
fi

if ((failed)); then exit 1; fi
echo "nine wrong backends were refused, and what was written shows it again or says how"
