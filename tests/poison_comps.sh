#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# poison_comps.sh CC BUILD LIBRARY... - tests that the conformance suite notices if either implementation
# of a composition is wrong. A copy of src/op gets one small fault at a time, in the decomposition (lower)
# or in the kernel of a composition. The changed file is compiled and linked into cts instead of the
# library's object. cts must fail on that composition, only on the device that runs this implementation.
# By default six faults are planted; VOLTA_TEST_FULL=1 plants all of them.
#   CC  the compiler        BUILD  build folder with cts        LIBRARY  further libraries to link
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ $# -lt 3 ]]; then
  echo "usage: poison_comps.sh CC BUILD LIBRARY..." >&2
  exit 2
fi
cc=$1 build=$2
shift 2
libraries=("$@")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/op"
cp src/op/*.c src/op/*.h src/op/*.inc src/op/*.def "$temporary/op"

# ---- the faults ----
# fault COMP SIDE FILE FUNCTION SED [quick]: adds a fault. SED is applied between the first line of
# FUNCTION and the next line that starts with a closing brace. SIDE is lower or kernel.
faults=()
fault() { faults+=("$(printf '%s\x1f' "$@")"); }

fault relu lower op_activation.c lower_relu 's/0\.0)/-0.0)/' quick
fault relu kernel op_activation.c relu 's/vt_f32_max(x, 0.0f)/x > 0.0f ? x : 0.0f/'
fault silu lower op_activation.c lower_silu 's/VT_OP_sigmoid/VT_OP_tanh/'
fault silu kernel op_activation.c silu 's|vt_f32_sigmoid(x)|(1.0f / (1.0f + vt_f32_exp(-x)))|'
fault gelu lower op_activation.c lower_gelu 's/0x3f3504f3u/0x3f3504f4u/'
fault gelu kernel op_activation.c gelu 's/0x1.6a09e6p-1f/0x1.6a09e4p-1f/' quick
fault gelu_tanh lower op_activation.c tanh_of_cubic 's/0x3d372713u/0x3d372714u/'
fault gelu_tanh lower op_activation.c tanh_of_cubic 's/0x3f4c422au/0x3f4c4229u/'
fault gelu_tanh kernel op_activation.c gelu_tanh 's/0x1.6e4e26p-5f/0x1.6e4e28p-5f/'
fault gelu_tanh kernel op_activation.c gelu_tanh 's/0x1.988454p-1f/0x1.988456p-1f/'
fault mean lower op_reduce.c lower_mean 's/dtype, count)/dtype, count + 1)/'
fault mean kernel op_reduce.c mean_f32 's|\*y /= (float)w.count|*y *= 1.0f / (float)w.count|'
fault softmax lower op_norm.c lower_softmax 's/vt_build2(b, VT_OP_sub, l->in\[0\], m)/l->in[0]/'
fault softmax kernel op_norm.c softmax_row 's| / sum;| * (1.0f / sum);|' quick
fault log_softmax lower op_norm.c lower_log_softmax \
  's/shifted, vt_build1(b, VT_OP_log, sum)/l->in[0], vt_build2(b, VT_OP_add, m, vt_build1(b, VT_OP_log, sum))/'
fault log_softmax kernel op_norm.c log_softmax_row 's/(\(r->x\[i \* r->xs\]\) - m) - log_sum/\1 - (m + log_sum)/'
fault layer_norm lower op_norm.c lower_norm_of_last_axes 's/VT_OP_add, y/VT_OP_sub, y/' quick
fault layer_norm kernel norm.inc 'NAME(norm)' 's|/ ROOT(squares / n|/ ROOT(squares * (1 / n)|'
fault rms_norm lower op_norm.c lower_norm_of_last_axes 's/, eps, centred)/, eps * 1.5, centred)/'
fault rms_norm kernel norm.inc 'NAME(norm)' \
  's|s->centred ? NAME(sum_of_deviations)(w, x, 0, 0) / n : 0;|NAME(sum_of_deviations)(w, x, 0, 0) / n;|'
fault linear lower op_contract.c lower_linear 's/VT_OP_add, y/VT_OP_sub, y/'
fault linear kernel op_contract.c kernel_linear 's/v + ((const float/v - ((const float/'
fault embedding lower op_move.c lower_embedding \
  's/l->in\[1\])/vt_build2(l->b, VT_OP_minimum, l->in[1], vt_build_int(l->b, l->b->type(l->b, l->in[1])->dtype, 3)))/'
fault embedding kernel op_move.c kernel_embedding 's/row \* table->stride\[0\]/(row - (row == 3)) * table->stride[0]/'
fault attention lower op_attention.c mask_by_position 's/VT_OP_le, j, p/VT_OP_lt, j, p/'
fault attention lower op_attention.c scale_of 's|1.0f / vt_f32_sqrt((float)d)|(float)(1.0 / vt_f64_sqrt((double)d))|'
fault attention lower op_attention.c scale_of 's|: a->scale|: a->scale * (1 + 0x1p-23)|'
fault attention kernel op_attention.c kernel_attention 's|1.0f / root|(float)(1.0 / vt_f64_sqrt((double)q->dim[3]))|'
fault attention kernel op_attention.c kernel_attention 's|= (float)a->scale|= (float)(a->scale * (1 + 0x1p-23))|'
fault attention kernel op_attention.c find_seen_keys 's/j <= p/j < p/' quick
fault cross_entropy lower op_loss.c weigh_and_reduce_rows \
  's/reduction == VT_WORD_sum ? sum/reduction != VT_WORD_sum ? sum/' quick
fault cross_entropy kernel op_loss.c cross_entropy_of_row \
  's/- (x\[r->target \* r->stride\] - m)/+ m - x[r->target * r->stride]/'
fault einsum lower op_einsum.c contract 's/(of_f | of_g) \& ~kept/of_f \& of_g \& ~kept/'
fault einsum kernel op_einsum_kernel.c contraction_add_chain 's/< GROUP/< GROUP + 1/'
fault linear_int lower op_quant.c lower_linear_int 's/plus(/minus(/'
fault linear_int kernel op_quant.c linear_int_element 's/zx \* sum_w +/zx * sum_w -/'
fault adaptive_avg_pool lower op_adaptive.c build_window_edges 's/+ f->out\[i\] - 1)/+ f->out[i])/'
fault adaptive_avg_pool kernel op_adaptive.c window_at 's/(next % out != 0)/(next % out > 1)/'
fault adaptive_max_pool lower op_adaptive.c lower_adaptive_max_pool 's/vt_pooling_least_value(b, f.dtype)/vt_build_scalar_of_same_dtype(b, l->in[0], 0.0)/'
fault adaptive_max_pool kernel op_adaptive.c kernel_adaptive_max_pool 's/if (vt_view_is_above/if (j > 0 \&\& vt_view_is_above/;s/int64_t best = base;/int64_t best = base + 0 * size; t.count -= t.count > 2;/'
fault diag lower op_arrange.c diagonal_positions 's/columns + 1)/columns)/'
fault diag kernel op_arrange.c diagonal_view 's/k < 0 ? 0 : 1/k < 0 ? 1 : 0/'

# ---- build ----
flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -O1 -ffp-contract=off -fno-math-errno -w "-I$temporary/op"
  -Isrc/num -Isrc/base -Iinclude -Iinclude/volta "-I$build/include" "-I$build/include/volta")
test=$temporary/cts
# build_cts FILE: compiles every source that FILE of the copy is part of, and links cts with these objects
# before the libraries, so that they replace the library's.
build_cts() {
  local units=("$temporary/op/$1") objects=() unit
  if [[ $1 != *.c ]]; then mapfile -t units < <(grep -lF "\"$1\"" "$temporary"/op/*.c); fi
  for unit in "${units[@]}"; do
    objects+=("${unit%.c}.o")
    "$cc" "${flags[@]}" -c "$unit" -o "${unit%.c}.o" || return
  done
  "$cc" "$build"/CMakeFiles/cts.dir/tests/cts/*.o "${objects[@]}" -Wl,--start-group "$build"/libvt_*.a \
    -Wl,--end-group "${libraries[@]}" -ldl -lpthread -lm -o "$test"
}

# ---- plant each fault and run cts ----
failed=0 planted=0
fail() {
  echo "FAILED: $*"
  failed=1
}
# try_fault COMP SIDE FILE FUNCTION SED: plants one fault; cts must notice it.
try_fault() {
  local where=$temporary/op/$3 status=0 device=0
  if [[ $2 == kernel ]]; then device=1; fi
  sed -i "/^[a-z].*[ *]$4(/,/^}/ { $5 }" "$where"
  if cmp -s "$where" "src/op/$3"; then
    fail "$1, $2: the fault does not fit $3 any more"
  elif ! build_cts "$3" >"$temporary/log" 2>&1; then
    fail "$1, $2: the fault does not compile:"
    grep -m 3 -E "error|undefined" "$temporary/log" || true
  else
    "$test" --only "$1" >"$temporary/said" 2>&1 || status=$?
    # Gradients are left out: they may use code of the decomposition and then fail on both devices.
    grep -v '/gradient\.' "$temporary/said" >"$temporary/values" || true
    if [[ $status == 1 ]] && grep -q "^FAILED $1: .* on reference:$device\$" "$temporary/values" &&
      ! grep -q "on reference:$((1 - device))\$" "$temporary/values"; then
      echo "ok: $1, $2"
    else
      fail "$1, $2: not noticed (status $status)"
    fi
  fi
  cp "src/op/$3" "$where"
}
for entry in "${faults[@]}"; do
  IFS=$'\x1f' read -r -d '' comp side file function expression quick _ <<<"$entry"$'\x1f' || true
  if [[ -z ${VOLTA_TEST_FULL-} && $quick != quick ]]; then continue; fi
  planted=$((planted + 1))
  try_fault "$comp" "$side" "$file" "$function" "$expression"
done

if [[ $planted -lt 6 ]]; then fail "only $planted faults were planted"; fi
if [[ $failed == 0 ]]; then echo "$planted faults, each noticed"; fi
exit $failed
