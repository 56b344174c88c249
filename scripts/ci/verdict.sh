# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# verdict.sh - what the verification scripts share, which source it: their options, the rows of their table, and how
# the work is divided into parts.
# shellcheck disable=SC2034 # the scripts use what is set here

build=build part=1/1 checks='' rows=''
table=() failed=0 number=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# options USAGE WORD...: sets the variable `name` for each [--name VALUE] that USAGE lists. --part I/N sets part to I
# and parts to N.
options() {
  local usage=$1
  shift
  while [[ $# -gt 0 ]]; do
    if [[ $# == 1 || $1 != --[a-z]* || $usage != *"[$1 "* ]]; then
      echo "usage: $usage" >&2
      exit 2
    fi
    printf -v "${1#--}" %s "$2"
    shift 2
  done
  IFS=/ read -r part parts <<<"$part"
  if ! [[ $part =~ ^[1-9][0-9]*$ && $parts =~ ^[1-9][0-9]*$ ]] || ((part > parts)); then
    echo "${usage%% *}: --part takes I/N, I from 1 to N" >&2
    exit 2
  fi
}

# find_gpu: sets device, what volta says of the first GPU, its name card, and the driver's version. Exit 5, as
# volta has it for a backend that is not available, where there is no GPU or no driver.
find_gpu() {
  if [[ ! -x $build/volta ]]; then
    echo "${0##*/}: there is no $build/volta; run make first" >&2
    exit 2
  fi
  device=$("$build/volta" backends cuda:0 2>&1 | head -n 1) || true
  if [[ $device != *" available "* ]]; then
    echo "${0##*/}: there is no GPU to verify here: ${device##*  }" >&2
    exit 5
  fi
  card=${device##*comps  } card=${card%%,*}
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || true
  driver=${driver:-not known}
}

# row RESULT WHAT SECONDS WORDS: adds a row to the table, and to the file `rows` where one is named.
row() {
  local line
  printf -v line '%-28s %-7s %7s  %s' "$2" "$1" "$3" "$4"
  table+=("$line")
  if [[ -n $rows ]]; then echo "$line" >>"$rows"; fi
  if [[ $1 == FAILED ]]; then failed=1; fi
}
# judge WHAT PATTERN COMMAND...: runs the command. It is ok if it exits with 0 and prints a line that matches the
# pattern; the last such line goes into the table. A command that exits with 77 is skipped.
judge() {
  local what=$1 pattern=$2 status=0 begun=$SECONDS words
  shift 2
  echo "== $what"
  "$@" 2>&1 | tee "$work/said" | tail -n 40 || status=$?
  words=$(tail -n 1 "$work/said")
  if [[ $status == 77 ]]; then
    row SKIPPED "$what" "$((SECONDS - begun))" "$words"
  elif [[ $status == 0 ]] && grep -qE -- "$pattern" "$work/said"; then
    row ok "$what" "$((SECONDS - begun))" "$(grep -E -- "$pattern" "$work/said" | tail -n 1)"
  else
    row FAILED "$what" "$((SECONDS - begun))" "$words"
  fi
}
# wanted CHECK: whether --checks, a comma list, names it. Without --checks every check is wanted.
wanted() { [[ -z $checks || ,$checks, == *,$1,* ]]; }
# mine: whether this part runs the next of the pieces that are not divided themselves.
mine() {
  number=$((number + 1))
  ((number % parts == part - 1))
}
# show_table: prints the table with its head.
show_table() {
  printf '%-28s %-7s %7s  %s\n' check result seconds "what it said"
  printf '%s\n' ${table[@]+"${table[@]}"}
}
