#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh [run|test|full] - installs the packages that building (run), `make test` (test) or `make
# test-full` (full) need on Debian 12 and Ubuntu 24.04. On other systems it lists them and succeeds.
# VOLTA_SETUP=no skips it. apt is called only if something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

tier=${1:-run}
case $tier in
  run | test | full) ;;
  *)
    echo "usage: setup.sh [run|test|full]" >&2
    exit 2
    ;;
esac
[[ ${VOLTA_SETUP-} != no ]] || exit 0

# Columns: package, who needs it, reason, and a probe that finds it if it was installed without a Debian package.
#   run    every target needs it
#   test   `make test` cannot start without it
#   check  some tests of `make test` need it; they are skipped on a system that does not offer the package
#   full   some long tests of `make test-full` need it, likewise
needs() {
  cat <<'ROWS'
gcc             run   compiler    command -v gcc
libc6-dev       run   headers     has_header stdlib.h
make            run   build       command -v make
cmake           run   build       command -v cmake
libsodium-dev   run   hashing     has_header sodium.h
libjansson-dev  run   JSON        has_header jansson.h
zlib1g-dev      run   npz         has_header zlib.h
ninja-build     test  build       command -v ninja
python3         test  checks      command -v python3
clang           test  compiler    command -v clang
clang-runtime   test  sanitizers  has_sanitizers
pkg-config      test  checks      command -v pkg-config
g++             test  emulator    command -v g++
git             check history     command -v git
clang-format-14 check formatting  command -v clang-format-14
libmpfr-dev     check oracle      has_header mpfr.h
mandoc          check manual      command -v mandoc
python3-numpy   check peers       scripts/python.sh numpy
python3-mpmath  check tables      scripts/python.sh mpmath
sollya          check tables      command -v sollya
python3-torch   full  peers       scripts/python.sh torch
ROWS
}
# in_tier WHO: whether the requested tier includes the rows with WHO in the second column.
in_tier() {
  case $tier in
    run) [[ $1 == run ]] ;;
    test) [[ $1 != full ]] ;;
    full) true ;;
  esac
}

has_header() { echo "#include <$1>" | cc -E -x c - || echo "#include <$1>" | gcc -E -x c -; }
has_sanitizers() { echo 'int main(void) { return 0; }' | clang -fsanitize=address,undefined -x c - -o /dev/null; }

# Prints the version of the installed clang or, if none is installed, of the one that apt would install.
clang_version() {
  if command -v clang >/dev/null; then
    clang -dumpversion
  else
    apt-cache policy clang 2>/dev/null | sed -n 's/^ *Candidate: \([0-9]*:\)\{0,1\}\([0-9]\)/\2/p'
  fi
}
package_name() {
  local version
  if [[ $1 != clang-runtime ]]; then
    echo "$1"
    return
  fi
  version=$(clang_version)
  if [[ -n $version ]]; then echo "libclang-rt-${version%%.*}-dev"; else echo libclang-rt-dev; fi
}
installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
apt_offers() { [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]; }

missing=() reasons=() must=no
while read -r package who reason probe; do
  in_tier "$who" || continue
  # `eval` is safe here: a probe is a fixed command of the table above.
  if installed "$(package_name "$package")" || eval "$probe" >/dev/null 2>&1; then continue; fi
  missing+=("$package")
  reasons+=("$reason")
  if [[ $who == run || $who == test ]]; then must=yes; fi
done < <(needs)

if [[ ${#missing[@]} == 0 ]]; then
  echo "setup: nothing is missing"
  exit 0
fi

list() {
  local i
  for i in "${!missing[@]}"; do printf '  %-20s %s\n' "$(package_name "${missing[i]}")" "${reasons[i]}"; done
}
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: this is neither Debian nor Ubuntu; please install what corresponds to these packages of theirs:"
  list
  exit 0
fi

# Commands that need root are written "${as_root[@]}" COMMAND. Without sudo the array has only `env`, because a variable
# before a command would not work after an empty expansion.
as_root=(env)
if [[ $(id -u) != 0 ]]; then as_root=(sudo -n env); fi
can_install() { "${as_root[@]}" true 2>/dev/null; }

if can_install; then
  "${as_root[@]}" apt-get update -qq || echo "setup: apt-get update failed; trying with what apt knows" >&2
fi
echo "setup: missing"
list
names=() unknown=()
for package in "${missing[@]}"; do
  name=$(package_name "$package")
  if apt_offers "$name"; then names+=("$name"); else unknown+=("$name"); fi
done
if [[ ${#unknown[@]} != 0 ]]; then echo "setup: apt does not offer ${unknown[*]}"; fi
if [[ ${#names[@]} == 0 ]]; then
  if [[ $must == yes ]]; then exit 1; fi
  echo "setup: the tests that need these packages are skipped"
  exit 0
fi
command=(apt-get install -y --no-install-recommends "${names[@]}")
if ! can_install; then
  echo "setup: not root, and sudo asks for a password; please run"
  echo "  sudo apt-get update && sudo ${command[*]}"
  if [[ $must == yes ]]; then exit 1; fi
  exit 0
fi
echo "setup: ${command[*]}"
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive "${command[@]}"
