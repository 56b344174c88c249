#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python.sh [MODULE...] - prints the path of a Python 3 that can import these modules. It tries the one in PATH, then
# the system's own, because Debian's packages install modules only for that one. If neither has the modules, it prints
# the one in PATH and exits with status 1.
set -euo pipefail
for python in python3 /usr/bin/python3; do
  if command -v "$python" >/dev/null && "$python" -c "${*:+import ${*/%/;import} os}" 2>/dev/null; then
    command -v "$python"
    exit 0
  fi
done
command -v python3 || true
exit 1
