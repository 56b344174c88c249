#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpu_table.sh - measures every number of docs/governance/performance.md on this machine: writes the results to
# bench/results/MACHINE, and from them the tables of the page. It takes about half an hour per instruction set, during
# which nothing else should run.
#
#   --volta PATH      the binary to measure (build/volta)
#   --openblas PATH   the library to compare with (as `volta bench --compare openblas` finds it)
#   --python PATH     a Python with torch, numpy and maybe onnx and onnxruntime, instead of a new one
#   --without-peers   compare with OpenBLAS only
#   --threads N,N     numbers of threads (1,2)
#   --isas A,B        instruction sets (avx2, and avx512 if the CPU has it)
#   --rounds N        rounds with OpenBLAS (28); with the other libraries a seventh of that
set -euo pipefail
cd "$(dirname "$0")/.."

unset OPENBLAS_CORETYPE # because `volta bench` looks for the fastest core type
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
    which=PyTorch # ONNX Runtime cannot be limited to AVX2 on a CPU with AVX-512
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
