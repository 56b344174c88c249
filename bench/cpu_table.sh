#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpu_table.sh - every number of docs/governance/performance.md, in one go: fills bench/results/MACHINE
# and writes the tables of the page from it. Takes about half an hour an instruction set; nothing else should run
# meanwhile.
#
#   --volta PATH      the binary to measure (build/volta)
#   --openblas PATH   the library to compare with (as `volta bench --compare openblas` finds it)
#   --python PATH     a Python with torch, numpy and maybe onnx and onnxruntime, instead of a new one
#   --without-peers   OpenBLAS alone
#   --threads N,N     (1,2)      --isas A,B   (avx2, and avx512 where there is one)
#   --rounds N        turns beside OpenBLAS (28); beside the others a seventh of that, each of several rounds
set -euo pipefail
cd "$(dirname "$0")/.."

unset OPENBLAS_CORETYPE # the fastest one is looked for
volta=build/volta
openblas=
python=
peers=yes
threads=1,2
rounds=28
isas=
while [ $# -gt 0 ]; do
  case "$1" in
    --volta) volta=$2; shift 2 ;;
    --openblas) openblas=$2; shift 2 ;;
    --python) python=$2; shift 2 ;;
    --threads) threads=$2; shift 2 ;;
    --isas) isas=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    --without-peers) peers=no; shift ;;
    *) echo "cpu_table.sh: there is no flag '$1'" >&2; exit 2 ;;
  esac
done
if [ -z "$isas" ]; then
  isas=avx2
  if grep -qw avx512f /proc/cpuinfo; then isas=avx2,avx512; fi
fi

table="python3 -B bench/cpu/table.py"
folder=$($table folder)
mkdir -p "$folder"
for isa in ${isas//,/ }; do
  export VOLTA_ISA=$isa
  which='PyTorch,ONNX Runtime'
  if [ "$isa" = avx2 ] && grep -qw avx512f /proc/cpuinfo; then
    which=PyTorch # ONNX Runtime cannot be held to less than there is
  fi
  echo "== $isa: OpenBLAS"
  "$volta" bench cpu --compare openblas ${openblas:+--peer "$openblas"} --threads "$threads" --rounds "$rounds" \
    --json > "$folder/new.json"
  mv "$folder/new.json" "$folder/openblas-$isa.json"
  if [ "$peers" = yes ]; then
    echo "== $isa: PyTorch and ONNX Runtime"
    bench/peers.sh ${python:+--python "$python"} --volta "$volta" --threads "$threads" --peers "$which" \
      --rounds $(((rounds + 6) / 7)) --out "$folder/peers-$isa.json"
  fi
done
$table machine "$volta" > "$folder/new.json"
mv "$folder/new.json" "$folder/machine.json"
$table page
