#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# owed.sh [--fail] - lists the GPU checks that are owed: those whose sources have changed since they last passed on a
#   GPU. Each has the date, card and commit of that run and the files that have changed; the oldest run is first.
#   Exit 0; with --fail exit 1 if any check is owed.
# owed.sh --sources [COMMIT] - prints each check and the hash of its sources, in the working tree or at COMMIT.
# owed.sh --record REPORT... - records the checks that passed in the table of docs/gpu-verification.md. The REPORTs are
#   those of gpu_verify.sh for all parts of one run. Exit 1 if a check of the reports is not recorded.
# The checks and their sources are in gpu_checks.sh. If a check has no row in the table, or a row no check, the exit
# code is 3. Exit 2 for a usage error.
set -euo pipefail
cd "$(dirname "$0")/../.."
page=docs/gpu-verification.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fail CODE MESSAGE: ends the script.
fail() {
  echo "owed.sh: $2" >&2
  exit "$1"
}
usage() { fail 2 "usage: owed.sh [--fail] | --sources [COMMIT] | --record REPORT..."; }

checks=()
declare -A paths
check() {
  checks+=("$1")
  paths[$1]=${*:2}
}
. scripts/ci/gpu_checks.sh

# ---- sources ----

# unpack COMMIT: sets tree to a folder with the files of that commit; fails if there is no clone or it lacks the commit.
unpack() {
  local commit
  [[ -e .git ]] && commit=$(git rev-parse --verify --quiet "$1^{commit}") || return 1
  tree=$work/$commit
  if [[ ! -d $tree ]]; then
    mkdir "$tree"
    git archive "$commit" | tar -x -C "$tree"
  fi
}
# files CHECK TREE: prints hash and name of each source of a check. A source that does not exist is an error in the
# working tree, and is left out in the tree of another commit.
files() (
  cd "$2"
  for path in ${paths[$1]}; do
    if [[ -d $path ]]; then
      find "$path" -type f ! -name '*_test.*' ! -name '*.o' ! -path '*/__pycache__/*'
    elif [[ -e $path ]]; then
      echo "$path"
    elif [[ $2 == . ]]; then
      fail 3 "$path, a source of the check $1, does not exist"
    fi
  done | LC_ALL=C sort -u | xargs -r -d '\n' sha256sum --
)
hash_of() { files "$1" "$2" | sha256sum | cut -c 1-16; }

# ---- the recorded runs ----

declare -A seen # the latest recorded run of each check: "HASH COMMIT DATE CARD", or "never"
read_page() {
  local line name
  local row='^\| ([a-z]+/[a-z_]+) \| [^|]+ \| ([0-9a-f]{16}) \| ([0-9a-f]{7,40}) \| ([^|]+) \| ([0-9]{4}-[0-9]{2}-[0-9]{2}) \|$'
  local never='^\| ([a-z]+/[a-z_]+) \| [^|]+ \| never \| \| \| \|$'
  while IFS= read -r line; do
    if [[ $line =~ $row ]]; then
      seen[${BASH_REMATCH[1]}]="${BASH_REMATCH[2]} ${BASH_REMATCH[3]} ${BASH_REMATCH[5]} ${BASH_REMATCH[4]}"
    elif [[ $line =~ $never ]]; then
      seen[${BASH_REMATCH[1]}]=never
    else
      fail 3 "$page: this row does not have the form of the others: $line"
    fi
    name=${BASH_REMATCH[1]}
    if [[ -z ${paths[$name]-} ]]; then fail 3 "$page has a row for $name, which gpu_checks.sh does not list"; fi
  done < <(grep -E '^\| [a-z]+/' "$page")
  for name in "${checks[@]}"; do
    if [[ -z ${seen[$name]-} ]]; then
      fail 3 "$page has no row for the check $name; one that never ran: | $name | what it checks | never | | | |"
    fi
  done
}

# ---- the three commands ----

# changed CHECK COMMIT: says which sources of the check differ between the commit and the working tree.
changed() {
  local names=() more=
  if ! unpack "$2"; then
    echo "files not known: this clone does not have $2"
    return
  fi
  mapfile -t names < <(sort <(files "$1" "$tree") <(files "$1" .) | uniq -u | cut -c 67- | sort -u)
  if ((${#names[@]} > 3)); then more=" ..."; fi
  case ${#names[@]} in
    0) echo "the list of its sources in gpu_checks.sh has changed" ;;
    1) echo "changed: ${names[0]}" ;;
    *) echo "changed: ${#names[@]} files, ${names[*]:0:3}$more" ;;
  esac
}
list() {
  local check now hash commit day card owed
  for check in "${checks[@]}"; do
    now=$(hash_of "$check" .)
    read -r hash commit day card <<<"${seen[$check]}"
    if [[ $hash == never ]]; then
      printf '0000-00-00 %-18s never\n' "$check"
    elif [[ $hash != "$now" ]]; then
      printf '%s %-18s %s  %s at %s; %s\n' "$day" "$check" "$day" "$card" "$commit" "$(changed "$check" "$commit")"
    fi
  done >"$work/owed"
  sort -s -k 1,1 "$work/owed" | cut -d ' ' -f 2-
  owed=$(wc -l <"$work/owed")
  echo "owed: $owed of ${#checks[@]} GPU checks"
  [[ $1 != --fail || $owed == 0 ]]
}
sources() {
  local check hash root=.
  if [[ -n ${1-} ]]; then
    unpack "$1" || fail 2 "there is no clone here with the commit $1"
    root=$tree
  fi
  for check in "${checks[@]}"; do
    hash=$(hash_of "$check" "$root")
    echo "$check $hash"
  done
}

# common_value KEY: prints the value of KEY, which must be the same in all reports.
common_value() {
  local values
  values=$(sed -n "s|^$1: ||p" "${reports[@]}" | sort -u)
  if [[ -z $values || $values == *$'\n'* ]]; then fail 2 "the reports do not give one value for $1: ${values//$'\n'/, }"; fi
  echo "$values"
}
record() {
  local reports=("$@") n=$# card commit day check hash results why left=0
  for report in "${reports[@]}"; do [[ -r $report ]] || fail 2 "$report cannot be read"; done
  if [[ $(sed -n 's/^part: //p' "${reports[@]}" | sort -n) != "$(seq -f "%.0f of $n" "$n")" ]]; then
    fail 2 "these are not the reports of all the parts of one run, one of each"
  fi
  card=$(common_value card)
  commit=$(common_value commit)
  day=$(sed -n 's/^date: //p' "${reports[@]}" | sort | tail -n 1)
  if [[ $commit == unknown ]]; then commit=HEAD; fi
  unpack "$commit" || fail 2 "there is no clone here with the commit $commit"
  commit=$(git rev-parse --short=7 "$commit")
  while read -r check; do
    [[ -n ${paths[$check]-} ]] || fail 3 "gpu_checks.sh does not list $check"
    hash=$(hash_of "$check" "$tree") why=
    results=$(awk -v check="$check" '$1 == check { print $2 }' "${reports[@]}" | sort -u | paste -sd,)
    if [[ $(cat "${reports[@]}" | grep -cFx "source: $check $hash") != "$n" ]]; then
      why="not every part ran it on the sources of $commit"
    elif [[ $results != ok ]]; then
      why="its results are ${results:-missing}"
    fi
    if [[ -n $why ]]; then
      echo "not recorded: $check: $why"
      left=1
    else
      sed -E -i "s#^(\| $check \| [^|]+ \|).*#\1 $hash | $commit | $card | $day |#" "$page"
      echo "recorded: $check"
    fi
  done < <(sed -n 's/^source: \([^ ]*\) .*/\1/p' "${reports[@]}" | sort -u)
  return $left
}

case ${1-} in
  '' | --fail)
    [[ $# -le 1 ]] || usage
    read_page
    list "${1-}"
    ;;
  --sources)
    [[ $# -le 2 ]] || usage
    sources "${2-}"
    ;;
  --record)
    [[ $# -ge 2 ]] || usage
    read_page
    record "${@:2}"
    ;;
  *) usage ;;
esac
