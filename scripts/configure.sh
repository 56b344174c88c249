#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# configure.sh FOLDER [-c COMPILER] [CMake arguments]
# Configures a build folder, with Ninja if it is installed. A folder that was configured with another
# compiler or for another source tree is configured from scratch, because CMake can change neither.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
shift
compiler=
if [[ ${1-} == -c ]]; then
  compiler=$2
  shift 2
fi

cached() { sed -n "s/^$1:[A-Z]*=//p" "$folder/CMakeCache.txt"; }
same_program() { [[ $(readlink -f "$(command -v "$1")") == $(readlink -f "$(command -v "$2")") ]]; }

if [[ -f $folder/CMakeCache.txt ]]; then
  old=$(cached CMAKE_C_COMPILER)
  if [[ $(cached CMAKE_HOME_DIRECTORY) != "$PWD" ]] || ! command -v "$old" >/dev/null ||
    { [[ -n $compiler ]] && ! same_program "$old" "$compiler"; }; then
    rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles"
  fi
fi

arguments=("$@")
if [[ ! -f $folder/CMakeCache.txt ]]; then
  if command -v ninja >/dev/null; then arguments+=(-G Ninja); else arguments+=(-G "Unix Makefiles"); fi
  if [[ -n $compiler ]]; then arguments+=("-DCMAKE_C_COMPILER=$compiler"); fi
fi
exec cmake -S . -B "$folder" --log-level=NOTICE "${arguments[@]}"
