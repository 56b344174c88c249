#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# peers.sh [--python PATH] [--volta PATH] [--out FILE] [ARGUMENTS of bench/cpu/peers.py] - Volta beside
# PyTorch and ONNX Runtime on the CPU. Without --python they are installed into a virtual environment
# that is thrown away afterwards; with it, that Python is asked for what it has. Each is measured at its
# fastest setting. VOLTA_ISA=avx2 holds Volta to those instructions, and PyTorch with it.
set -euo pipefail
cd "$(dirname "$0")/.."

python=
arguments=()
while [ $# -gt 0 ]; do
  case "$1" in
    --python) python=${2:?--python needs a path}; shift 2 ;;
    *) arguments+=("$1"); shift ;;
  esac
done

if [ -z "$python" ]; then
  folder=$(mktemp -d "${TMPDIR:-/tmp}/volta-peers.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  python3 -m venv "$folder"
  python=$folder/bin/python
  "$python" -m pip install --quiet torch --index-url https://download.pytorch.org/whl/cpu ||
    "$python" -m pip install --quiet torch
  "$python" -m pip install --quiet numpy
  "$python" -m pip install --quiet onnx onnxruntime || echo "peers.sh: ONNX Runtime is left out" >&2
fi

"$python" -B bench/cpu/peers.py ${arguments[@]+"${arguments[@]}"}
