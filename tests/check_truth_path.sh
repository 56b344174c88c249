#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_truth_path.sh BUILD - tests in the built objects of BUILD that there is one way to run a model.
# Backends are reached only through the registry, kernels only through the op table and the backends.
# Verifiers use no code of the builders that they check, and the binary needs only the C library. Each
# public header compiles by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: check_truth_path.sh BUILD}

for tool in nm readelf; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: no $tool here (binutils)"
    exit 77
  fi
done

failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# ---- the symbols of the library and the binary, one line "OBJECT LETTER NAME" per symbol ----
shopt -s nullglob globstar
cli=("$build"/CMakeFiles/vt_cli.dir/**/*.o)
parts=("$build"/libvt_*.a "$build"/CMakeFiles/volta.dir/src/cli/cli_main.c.o "${cli[@]}")
if ((${#cli[@]} == 0)) || [[ ! -x $build/volta ]]; then
  echo "FAILED: there is no built volta in $build"
  exit 1
fi
nm -A "${parts[@]}" 2>/dev/null | sed -E 's/^(.*)\.o:([0-9a-f]+)? *([A-Za-z]) /\1.o \3 /' |
  sed -E "s|^[^ ]*[/:]([^/: ]+\.o) |\1 |" | LC_ALL=C sort -u >"$temporary/symbols"

objects_that_define() { awk -v s="$1" '$3 ~ "^(" s ")$" && $2 ~ /[TDRBV]/ { print $1 }' "$temporary/symbols" | sort -u; }
objects_that_need() { awk -v s="$1" '$3 ~ "^(" s ")$" && $2 == "U" { print $1 }' "$temporary/symbols" | sort -u; }
needs_of() { awk -v o="$1" '$1 ~ "^(" o ")$" && $2 == "U" { print $3 }' "$temporary/symbols" | sort -u; }
defined_in() { awk -v o="$1" '$1 ~ "^(" o ")$" && $2 ~ /[TDRBV]/ { print $3 }' "$temporary/symbols" | sort -u; }
one_line() { tr '\n' ' ' | sed 's/ $//'; }

# needed_only_by SYMBOLS OBJECTS WHY: only objects that match the pattern OBJECTS may refer to symbols
# that match SYMBOLS, and at least one must.
needed_only_by() {
  local symbols=$1 allowed=$2 why=$3 who
  who=$(objects_that_need "$symbols" | one_line)
  if [[ -z $who ]]; then fail "nobody refers to $symbols: this check looks at the wrong names"; fi
  for object in $who; do
    if [[ ! $object =~ ^($allowed)$ ]]; then fail "$object refers to $symbols: $why"; fi
  done
}

# independent OBJECT OTHERS: OBJECT must not refer to a symbol that the objects OTHERS define.
independent() {
  local shared
  if [[ -z $(defined_in "$2") || -z $(needs_of "$1")$(defined_in "$1") ]]; then
    fail "no symbols of $1 or $2: this check looks at the wrong names"
  fi
  shared=$(comm -12 <(needs_of "$1") <(defined_in "$2") | one_line)
  if [[ -n $shared ]]; then fail "$1 refers to $shared of $2"; fi
}

# ---- backends: only the registry refers to their query functions ----
queries=$(sed -nE 's/^VT_BACKEND\([^,]+, *([a-z_0-9]+),.*/\1/p' src/gate/backends.def)
if [[ -z $queries ]]; then fail "backends.def has no rows"; fi
for query in $queries; do
  if [[ $(objects_that_define "$query" | wc -l) -ne 1 ]]; then fail "$query is not defined once"; fi
  needed_only_by "$query" 'registry\.c\.o' "only the registry names a backend"
done
needed_only_by 'vt_registry_row_at' 'device\.c\.o' "only the gateway reads the registry"
needed_only_by 'vt_exec_run' '(program|ports|state|constant_eval)\.c\.o' \
  "only a program runs a plan, what initialises parameters and states, and what folds constants"
needed_only_by 'vt_plan_build|vt_exec_new' 'pipeline\.c\.o' "there is one pipeline"

# Every call to a backend is made between vt_guard_enter and vt_guard_leave, which only the gateway uses.
# In the gateway only the guard, and the program that probes plug-ins, enter the numerics environment.
needed_only_by 'vt_guard_(enter|leave|count)' '(device|exec|needs|plugin|shared)\.c\.o' "only the gateway enters a backend"
entering=$(grep -rlE '\bvt_fpenv_(enter|leave)\(' src/gate --include='*.c' | grep -v '_test\.c$' | sort | one_line)
if [[ $entering != "src/gate/guard.c src/gate/probe/probe_main.c" ]]; then
  fail "the numerics environment is entered in the gateway by: $entering"
fi
guards() { grep -ohE "\bvt_guard_$1\(&" src/gate/{device,exec,needs,plugin,shared}.c | wc -l; }
if [[ $(guards enter) -ne $(guards leave) ]]; then fail "$(guards enter) guards are entered, $(guards leave) left"; fi

# A backend uses the op table, numerics and memory, but no code of graphs, plans or the gateway.
backend_objects=$(for library in "$build"/libvt_back_*.a; do nm -A "$library" 2>/dev/null; done |
  sed -nE 's|^[^:]*:([^:]+\.o):.*|\1|p' | sort -u)
host_objects='(graph|pass|plan)(_[a-z]+)?\.c\.o|rewrite\.c\.o|identities\.c\.o|constant_eval\.c\.o|device\.c\.o|exec\.c\.o|registry\.c\.o|program\.c\.o|pipeline\.c\.o|ports\.c\.o|model\.c\.o|parse(_[a-z]+)?\.c\.o|(suite|case)(_[a-z]+)?\.c\.o'
for object in $backend_objects; do independent "${object//./\\.}" "$host_objects"; done

# Only the gateway and the backends use the backends' tables of functions.
while IFS= read -r line; do fail "a backend's table outside the gateway: $line"; done < <(
  grep -rnE '\bvt_bk_api\b|->api->' src --include='*.[ch]' --include='*.inc' |
    grep -vE '^src/(gate|back)/|_test\.[ch]:' || true)
while IFS= read -r line; do fail "a backend called past the gateway: $line"; done < <(
  grep -rnE '(->|\.)(device_(count|open|close)|op_listed|step_check|program_(build|free)|buffer_(new|free)) *\(' \
    src --include='*.[ch]' --include='*.inc' | grep -vE '^src/(gate|back)/|_test\.[ch]:' || true)

# ---- kernels: only the op table names them, and only the runner of steps, which backends use, calls them ----
needed_only_by 'kernel_[a-z0-9_]+' 'op\.c\.o' "a kernel is reached through the op table"
needed_only_by 'vt_steps_run' 'reference\.c\.o|island\.c\.o' "only a backend runs steps"
# Finds calls of an op's kernel. The pattern excludes the attribute `kernel`, which is neither called nor a field of an
# op.
calls=$(grep -rnE '(->|\.)kernel *\(|\b(op|info)(->|\.)kernel\b' src --include='*.[ch]' --include='*.inc' | grep -v '_test\.[ch]:' || true)
if ! grep -q '^src/op/steps\.c:' <<<"$calls"; then fail "the runner of steps calls no kernel"; fi
while IFS= read -r line; do fail "a kernel called past a backend: $line"; done < <(
  grep -v '^src/op/steps\.c:' <<<"$calls" || true)

# ---- verifiers use no code of the builders that they check ----
planners=$(find src/plan -name '*.c' ! -name 'verify_*' ! -name '*_test.c' -printf '%f.o|')
for source in src/plan/verify_*.c; do
  if [[ $source != *_test.c ]]; then independent "$(basename "$source").o" "${planners%|}"; fi
done
independent 'graph_verify\.c\.o' 'graph_build\.c\.o'

# ---- shared libraries that the binary needs ----
if grep -q '^VOLTA_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
  echo "a build with sanitizers needs their libraries, so its libraries are not checked"
else
  while IFS= read -r library; do
    case $library in
      libc.so.* | libm.so.* | libpthread.so.* | ld-linux*.so.*) ;;
      *) fail "the binary needs $library" ;;
    esac
  done < <(readelf -d "$build/volta" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
  if ! readelf -d "$build/volta" | grep -q 'NEEDED.*libc\.so'; then fail "the binary names no C library"; fi
fi

# ---- headers: that for plug-ins compiles without the others, and all compile as C and C++ ----
cp include/volta/volta_backend.h "$temporary/alone.h"
mkdir "$temporary/installed"
cp include/volta/* "$build/include/volta/volta_ops.h" "$temporary/installed"
warnings=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only)
check_header() { # COMPILER HEADER FLAGS...
  local compiler=$1 header=$2
  shift 2
  echo "#include \"$header\"" >"$temporary/user"
  if ! "$compiler" "${warnings[@]}" "$@" "$temporary/user" 2>"$temporary/log"; then
    fail "$header does not compile with $compiler $*: $(head -3 "$temporary/log" | one_line)"
  fi
}
compilers=0
for pair in "gcc -x c -std=c11" "clang -x c -std=c11" "g++ -x c++ -std=c++11" "clang++ -x c++ -std=c++11"; do
  read -ra words <<<"$pair"
  if ! command -v "${words[0]}" >/dev/null; then continue; fi
  compilers=$((compilers + 1))
  check_header "${words[0]}" "$temporary/alone.h" "${words[@]:1}"
  for header in "$temporary"/installed/*.h; do check_header "${words[0]}" "$header" "${words[@]:1}"; done
done
if ((compilers == 0)); then fail "no compiler to try the headers with"; fi

if ((failed)); then exit 1; fi
echo "one way to run: $(wc -l <"$temporary/symbols") symbols of ${#parts[@]} parts, headers with $compilers compilers"
