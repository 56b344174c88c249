#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_format.sh [--fix] - the C sources are as clang-format writes them. The *.def tables are
# aligned by hand and left alone. One version decides, because versions disagree.
set -euo pipefail
cd "${VOLTA_ROOT:-$(dirname "$0")/..}"
version=14

formatter=
for candidate in "clang-format-$version" clang-format; do
  if "$candidate" --version 2>/dev/null | grep -q "version $version\."; then
    formatter=$candidate
    break
  fi
done
if [[ -z $formatter ]]; then
  echo "SKIPPED: no clang-format $version here (Debian, Ubuntu: clang-format-$version)"
  exit 77
fi

action=(--dry-run -Werror)
if [[ ${1-} == --fix ]]; then action=(-i); fi
folders=()
for folder in include src tests tools examples bench; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done
find "${folders[@]}" -name '*.[ch]' -o -name '*.cc' -o -name '*.inc' -o -name '*.cu' -o -name '*.cuh' |
  LC_ALL=C sort | xargs -r "$formatter" --style=file "${action[@]}"
