#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# example_plugin.sh VOLTA CTS GENERATED CC - tests that the plug-in of examples/plugin, built outside
# the tree with the two headers that it needs, gives the bits of the reference, that a wrong plug-in is
# refused, and that the template src/back/null works as a plug-in. GENERATED has volta/volta_ops.h.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
volta=$(realpath "$1") cts=$(realpath "$2") generated=$3 compiler=$4
for tool in make "$compiler"; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: no $tool here"
    exit 77
  fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
# expect CODE TEXT COMMAND...: the command must end with this exit code and print this text.
expect() {
  local want=$1 text=$2 code=0
  shift 2
  "$@" >"$work/said" 2>&1 || code=$?
  if ((code != want)) || ! grep -qF -- "$text" "$work/said"; then
    fail "exit $code, not $want with '$text': $*: $(head -c 600 "$work/said")"
  fi
}

# ---- build in a folder that has only the plug-in and its headers ----
mkdir -p "$work/include/volta"
cp include/volta/volta_backend.h "$generated/volta/volta_ops.h" "$work/include/volta"
cp -r examples/plugin "$work/plugin"
make -C "$work/plugin" CC="$compiler" VOLTA_INCLUDE="$work/include" CFLAGS="-O2 -Werror" >"$work/log" 2>&1 ||
  { cat "$work/log" && exit 1; }
if nm -D --undefined-only "$work/plugin/libpointwise.so" | grep -q 'vt_'; then fail "it needs symbols of Volta"; fi

cd "$work/plugin"
plugin=./libpointwise.so
model=(pointwise.vt --bind B=7 --random-inputs 3)
run=("$volta" run "${model[@]}")

# ---- the policy ----
expect 5 "is not admitted" "${run[@]}" --backend $plugin
expect 5 "--allow-unadmitted" "${run[@]}" --backend $plugin
expect 0 "UNADMITTED: nothing shows that libpointwise.so:0" "${run[@]}" --backend $plugin --allow-unadmitted
expect 5 "it has 1 device, there is no number 1" "${run[@]}" --backend $plugin:1 --allow-unadmitted
# A name without a slash is never a file.
expect 5 "there is no backend 'libpointwise.so'" "${run[@]}" --backend libpointwise.so --allow-unadmitted
LD_LIBRARY_PATH=. expect 5 "there is no backend" "${run[@]}" --backend libpointwise.so --allow-unadmitted
VOLTA_BACKEND=$plugin expect 5 "is not admitted" "${run[@]}"
VOLTA_BACKEND=$plugin expect 0 "UNADMITTED" "${run[@]}" --allow-unadmitted
expect 0 '"unadmitted": true' "${run[@]}" --backend $plugin --allow-unadmitted --json
expect 0 '"plugin": "' "${run[@]}" --backend $plugin --allow-unadmitted --json
expect 0 '"unadmitted": false' "${run[@]}" --json
expect 0 '"unadmitted": true' "$volta" plan pointwise.vt --bind B=7 --backend $plugin --allow-unadmitted --json

expect 5 "is not admitted" "$volta" ops --backend $plugin
expect 0 "16  prim  exact     itself      mul(a, b)" "$volta" ops --backend $plugin --allow-unadmitted

# ---- the bits ----
reference=$("${run[@]}" --backend reference --digest)
for backend in $plugin "$PWD/libpointwise.so:0"; do
  if [[ $("${run[@]}" --backend "$backend" --allow-unadmitted --digest -q) != "$reference" ]]; then
    fail "$backend gives other bits than the reference"
  fi
done
for cache in cold warm; do
  if [[ $("${run[@]}" --backend $plugin --allow-unadmitted --digest -q --plan-cache "$work/cache") != "$reference" ]]; then
    fail "other bits with a $cache cache of plans"
  fi
done
parity=("$volta" parity "${model[@]}" --backends "reference:0,$plugin,island:1" --allow-unadmitted)
expect 0 "= libpointwise.so:0 = island:1" "${parity[@]}"
expect 0 '"unadmitted": true' "${parity[@]}" --json
# The plug-in may use threads, so it runs with each number of threads; the other devices run once.
expect 0 "reference:0 = libpointwise.so:0 x1 = libpointwise.so:0 x2 = island:1: " "${parity[@]}" --threads 1,2
# The plug-in passes every f32 case of the conformance suite for its ops.
only=()
for op in neg abs add sub mul div maximum minimum relu clamp; do only+=(--only "$op/*f32*"); done
expect 0 ", 0 runs failed" "$cts" --cases "$root/tests/cts" --backend $plugin --jobs 1 "${only[@]}"
if ! grep -qE '^cts: [0-9]{3,} of' "$work/said"; then fail "too few cases: $(cat "$work/said")"; fi

# ---- admission ----
expect 0 "PASSED: $plugin (short form" "$volta" admit $plugin --short --jobs 1
if [[ -e $plugin.certificate.json ]]; then fail "the short form wrote a certificate"; fi
expect 0 "ADMITTED: $plugin" "$volta" admit $plugin
expect 0 "run " "${run[@]}" --backend $plugin
if grep -q UNADMITTED "$work/said"; then fail "an admitted plug-in is reported as UNADMITTED"; fi
expect 0 '"unadmitted": false' "${run[@]}" --backend $plugin --json
expect 0 '"unadmitted": false' "$volta" plan pointwise.vt --bind B=7 --backend $plugin --json
expect 0 "= libpointwise.so:0" "$volta" parity "${model[@]}" --backends "reference:0,$plugin"
mkdir "$work/other"
cp libpointwise.so "$work/other/renamed.so"
expect 5 "is not admitted: nothing shows" "${run[@]}" --backend "$work/other/renamed.so"
expect 0 "run " "${run[@]}" --backend "$work/other/renamed.so" --certificate $plugin.certificate.json
printf 'x' >>"$work/other/renamed.so"
expect 5 "its certificate was issued for a file with other content" "${run[@]}" --backend "$work/other/renamed.so" \
  --certificate $plugin.certificate.json
sed 's/"spoilt": /"spoilt": 1/' $plugin.certificate.json >"$work/other/edited.json"
expect 5 "its seal is broken" "${run[@]}" --backend $plugin --certificate "$work/other/edited.json"
expect 5 "cannot open" "${run[@]}" --backend $plugin --certificate "$work/other/none.json"
# A certificate holds for one instruction set only.
expect 0 '"isa": ""' cat $plugin.certificate.json
expect 5 "its certificate was issued for another instruction set" env VOLTA_ISA=scalar "${run[@]}" --backend $plugin
if [[ -n ${VOLTA_TEST_FULL:-} ]]; then
  scalar=$work/other/scalar.json
  expect 0 "ADMITTED: $plugin" env VOLTA_ISA=scalar "$volta" admit $plugin -o "$scalar"
  expect 0 '"isa": "scalar"' cat "$scalar"
  expect 5 "its certificate was issued for another instruction set" "${run[@]}" --backend $plugin --certificate "$scalar"
  expect 0 '"unadmitted": false' env VOLTA_ISA=scalar "${run[@]}" --backend $plugin --certificate "$scalar" --json
fi
mv $plugin.certificate.json "$work/other"

# ---- ops that the plug-in lacks are refused before anything runs ----
printf 'volta 1\nmodel m {\n  input a: f32[3, 3]\n  output y = matmul(a, a)\n}\n' >"$work/matmul.vt"
expect 4 "'y' = matmul giving f32[3, 3]: pointwise has no kernel for it" "$volta" run "$work/matmul.vt" --random-inputs 1 \
  --backend $plugin --allow-unadmitted
printf 'volta 1\nmodel m {\n  input a: f64[3]\n  output y = a + a\n}\n' >"$work/wide.vt"
expect 4 "pointwise computes in f32" "$volta" run "$work/wide.vt" --random-inputs 1 --backend $plugin --allow-unadmitted

# ---- a wrong plug-in is reported ----
sed 's/return a > b ? a : b;/return a < b ? a : b;/' pointwise.c >"$work/wrong.c"
"$compiler" -std=c11 -O2 -fPIC -shared -I"$work/include" -o "$work/libwrong.so" "$work/wrong.c"
wrong=("$volta" parity "${model[@]}" --backends "reference,$work/libwrong.so" --allow-unadmitted)
expect 5 "declares preserves_subnormals and does not keep it: maximum(x, z)" "${wrong[@]}"
expect 1 "Accelerated backend diverges from CPU semantics. This is forbidden." "${wrong[@]}" --untried
expect 1 "Accelerated backend diverges from CPU semantics. This is forbidden." "$volta" admit "$work/libwrong.so"
expect 1 "maximum is the greater of two" "$volta" admit "$work/libwrong.so"
# The command in the report shows the fault again.
read -ra shown < <(sed -n 's/^  shows it volta //p' "$work/said")
cd volta-refusal-libwrong.so
expect 1 "Accelerated backend diverges from CPU semantics. This is forbidden." "$volta" "${shown[@]}"
cd ..
expect 5 "is not admitted" "${run[@]}" --backend "$work/libwrong.so"

# ---- control characters in a plug-in's texts are escaped ----
sed 's/\.about = "f32/.about = "\\n\\033[31m\\377 f32/' pointwise.c >"$work/loud.c"
"$compiler" -std=c11 -O2 -fPIC -shared -I"$work/include" -o "$work/libloud.so" "$work/loud.c"
expect 0 '\x0a\x1b[31m\xff f32 element' "$volta" backends "$work/libloud.so"
expect 0 '"about"' "$volta" backends "$work/libloud.so" --json
python3 -m json.tool "$work/said" >/dev/null || fail "the plug-in's description breaks the JSON"
printf 'x' >"$work/$(printf 'lib\033[31m.so')"
expect 5 'lib\x1b[31m.so' "$volta" backends "$work/$(printf 'lib\033[31m.so')"

# ---- the template, copied as src/back/null/README.md says ----
cd "$root"
mkdir "$work/mine"
sed 's/vt_null_query/vt_backend_query/g' src/back/null/null.c >"$work/mine/mine.c"
cp include/volta/volta_status.h include/volta/status.def "$work/include/volta"
"$compiler" -std=c11 -O2 -ffp-contract=off -fPIC -shared -I"$work/include" -o "$work/mine/libmine.so" "$work/mine/mine.c"
expect 4 "this backend has no kernels" "${run[@]/pointwise.vt/examples/plugin/pointwise.vt}" --backend "$work/mine/libmine.so" \
  --allow-unadmitted

if ((failed)); then exit 1; fi
echo "the example plug-in: the bits of the reference, and refusals where there is no kernel"
