#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_format.sh [--fix] - fails if a C source is not formatted by clang-format; --fix formats them.
# The *.def tables are aligned by hand and not checked. Versions of clang-format disagree, so only
# version 14 is used; without it the check is skipped (exit 77).
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
