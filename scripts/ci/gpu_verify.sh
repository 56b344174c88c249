#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu_verify.sh [--part I/N] [--since COMMIT] [--out DIR] [--build FOLDER] - runs every check of gpu_checks.sh, which
# need a GPU, with the scripts cuda_*_verify.sh. It prints one table and writes it, with the card, the driver, the
# commit, the date and a hash of the sources of each check, to DIR/gpu-verify-I-of-N.txt; DIR is FOLDER by default.
# It needs a built tree and a driver, and no network. --part runs the Ith of N parts; they may run on N machines with
# the same card. --since runs only the checks whose sources have changed since COMMIT. FOLDER is the build folder, by
# default build/, which is built first; another one is not built. owed.sh --record reads the reports of all parts.
# Exit 0 if no check failed, 1 if one did, 2 for a usage error, 5 if there is no GPU or no driver.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/ci/verdict.sh
since='' out=''
options "gpu_verify.sh [--part I/N] [--since COMMIT] [--out DIR] [--build FOLDER]" "$@"

sources=$(scripts/ci/owed.sh --sources)
if [[ -n $since ]]; then
  before=$(scripts/ci/owed.sh --sources "$since")
  sources=$(comm -23 <(sort <<<"$sources") <(sort <<<"$before"))
  if [[ -z $sources ]]; then
    echo "gpu_verify.sh: no check has other sources than at $since"
    exit 0
  fi
fi
find_gpu

for group in $(cut -d / -f 1 <<<"$sources" | uniq); do
  script=cuda_${group}_verify.sh
  checks=$(sed -n "s|^$group/\([^ ]*\) .*|\1|p" <<<"$sources" | paste -sd ,)
  status=0
  "scripts/ci/$script" --part "$part/$parts" --build "$build" --checks "$checks" --rows "$work/$group" || status=$?
  while read -r name result seconds words; do
    if [[ $name != end ]]; then row "$result" "$group/$name" "$seconds" "$words"; fi
  done < <(cat "$work/$group" 2>/dev/null)
  if [[ $(tail -n 1 "$work/$group" 2>/dev/null) != end ]]; then
    for name in ${checks//,/ }; do row FAILED "$group/$name" 0 "$script ended early, with exit code $status"; done
  fi
done

verdict="gpu: no check failed, part $part of $parts"
if [[ $failed != 0 ]]; then verdict="gpu: FAILED, part $part of $parts"; fi
commit=unknown
if [[ -e .git ]]; then commit=$(git rev-parse HEAD) || commit=unknown; fi
mkdir -p "${out:=$build}"
report=$out/gpu-verify-$part-of-$parts.txt
{
  echo "part: $part of $parts"
  echo "card: $card"
  echo "device: $device"
  echo "driver: $driver"
  echo "volta: $("$build/volta" --version | head -n 1)"
  echo "commit: $commit"
  echo "date: $(date -u +%F)"
  sed 's/^/source: /' <<<"$sources"
  echo
  show_table
  echo "$verdict"
} >"$report"
echo
show_table
echo "$verdict"
echo "report: $report"
exit $failed
