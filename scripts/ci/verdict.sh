# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# verdict.sh - functions that the verification scripts source: options, running checks, the rows of their table, and
# the division of checks into parts.
# shellcheck disable=SC2034 # the scripts use the variables that are set here

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

# find_gpu: sets `device` to the line of volta about the first GPU, `card` to the GPU's name and `driver` to the
# driver's version. Without a GPU or a driver it ends the script with 5, volta's exit code for an unavailable backend.
find_gpu() {
  if [[ ! -x $build/volta ]]; then
    echo "${0##*/}: there is no $build/volta; run make first" >&2
    exit 2
  fi
  device=$("$build/volta" backends cuda:0 2>&1 | head -n 1) || true
  if [[ $device != *" available "* ]]; then
    echo "${0##*/}: there is no GPU to verify: ${device##*  }" >&2
    exit 5
  fi
  card=${device##*comps  } card=${card%%,*}
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || true
  driver=${driver:-not known}
}

# row RESULT CHECK SECONDS WORDS: adds a row to the table, and to the file `rows` if there is one.
row() {
  local line
  printf -v line '%-28s %-7s %7s  %s' "$2" "$1" "$3" "$4"
  table+=("$line")
  if [[ -n $rows ]]; then echo "$line" >>"$rows"; fi
  if [[ $1 == FAILED ]]; then failed=1; fi
}
# run_check CHECK PATTERN COMMAND...: runs the command and adds its row. It is ok if it exits with 0 and prints a line
# that matches the pattern; the last such line is in the row. It is skipped if it exits with 77.
run_check() {
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
# wanted CHECK: succeeds if this check is to run: --checks, a comma-separated list, is not given or names it.
wanted() { [[ -z $checks || ,$checks, == *,$1,* ]]; }
# mine: succeeds if this part of the checks (--part) runs the next piece. The parts take the pieces in turn.
mine() {
  number=$((number + 1))
  ((number % parts == part - 1))
}
# show_table: prints the table with its head.
show_table() {
  printf '%-28s %-7s %7s  %s\n' check result seconds "what it said"
  printf '%s\n' ${table[@]+"${table[@]}"}
}
