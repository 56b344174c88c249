#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# peers.sh [--python PATH] [--volta PATH] [--out FILE] [ARGUMENTS of bench/cpu/peers.py] - measures Volta,
# PyTorch and ONNX Runtime on the CPU, each library at its fastest setting. Without --python the libraries
# are installed into a virtual environment that is removed afterwards; with it, those that this Python has
# are measured. VOLTA_ISA=avx2 limits Volta and PyTorch to AVX2.
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
  "$python" -m pip install --quiet onnx onnxruntime || echo "peers.sh: ONNX Runtime cannot be installed and is left out" >&2
fi

"$python" -B bench/cpu/peers.py ${arguments[@]+"${arguments[@]}"}
