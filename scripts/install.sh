#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh install|uninstall - puts Volta below $DESTDIR$PREFIX (/usr/local), or takes it away.
# What was put there is written down in share/volta/install_manifest.txt below the prefix, before the
# first file is copied: paths relative to the prefix, and with a slash at the end the folders that
# were not there before. Uninstalling removes these files, those of these folders that are empty then,
# and nothing else. VOLTA_BUILD names a build folder to install from as it is; otherwise build/ is
# brought up to date first, unless it belongs to somebody else (`make`, then `sudo make install`).
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=${PREFIX:-/usr/local}
while [[ $prefix == */ && $prefix != / ]]; do prefix=${prefix%/}; done
root=${DESTDIR-}$prefix
manifest=share/volta/install_manifest.txt
build=${VOLTA_BUILD:-build}

die() {
  echo "install: $*" >&2
  exit 1
}
[[ $prefix == /* && $prefix != / ]] || die "PREFIX must be an absolute path below /: $prefix"
[[ -z ${DESTDIR-} || $DESTDIR == /* ]] || die "DESTDIR must be an absolute path: $DESTDIR"

# The loader keeps a list of the libraries in the places it knows.
tell_loader() {
  if [[ -z ${DESTDIR-} && $(id -u) == 0 && ($prefix == /usr || $prefix == /usr/local) ]] &&
    command -v ldconfig >/dev/null; then
    ldconfig
  fi
}

build_first() {
  if [[ -z ${VOLTA_BUILD-} && (! -d build || -O build) ]]; then
    scripts/configure.sh build
    cmake --build build -j "${VOLTA_JOBS:-$(nproc)}"
  fi
  [[ -e $build/libvolta.so ]] || die "$build holds no libvolta.so: run make first"
}

# folders_of: each folder that leads to the files on standard input, with a slash at the end.
folders_of() {
  local path
  while IFS= read -r path; do
    while [[ $path == */* ]]; do
      path=${path%/*}
      echo "$path/"
    done
  done | LC_ALL=C sort -u
}

# new_folders FILES: those of them that are missing; "./" stands for the prefix itself.
new_folders() {
  local folder
  if [[ ! -d $root ]]; then echo ./; fi
  while IFS= read -r folder; do
    if [[ ! -d $root/$folder ]]; then echo "$folder"; fi
  done < <(folders_of <"$1")
}

put() {
  build_first
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT
  # A first installation into a folder of its own tells what there will be.
  mkdir "$stage/root"
  DESTDIR=$stage/root cmake --install "$build" --prefix "$prefix" >"$stage/log" || die "$(cat "$stage/log")"
  [[ -d $stage/root$prefix ]] || die "nothing of $build goes below $prefix"
  (cd "$stage/root$prefix" && find . ! -type d -printf '%P\n') >"$stage/files"
  if [[ $(find "$stage/root" ! -type d | wc -l) != $(wc -l <"$stage/files") ]]; then
    die "$build installs outside of the prefix; use cmake --install"
  fi
  echo "$manifest" >>"$stage/files"
  new_folders "$stage/files" >"$stage/folders"
  # What an earlier version put there goes with this one.
  if [[ -f $root/$manifest ]]; then cat "$root/$manifest" >>"$stage/files"; fi
  LC_ALL=C sort -u "$stage/files" "$stage/folders" >"$stage/manifest"
  install -d "$root/${manifest%/*}"
  install -m 644 "$stage/manifest" "$root/$manifest"
  DESTDIR=${DESTDIR-} cmake --install "$build" --prefix "$prefix" >"$stage/log" || die "$(cat "$stage/log")"
  rm -f "$build/install_manifest.txt" # it would tell of one installation among several
  tell_loader
  echo "install: $(grep -vc '/$' "$stage/manifest") files below $root"
}

take_away() {
  local path files=0
  [[ -f $root/$manifest ]] || die "there is no $root/$manifest: nothing is removed"
  mapfile -t entries < <(LC_ALL=C sort -r "$root/$manifest")
  for path in "${entries[@]}"; do
    [[ -n $path && /$path/ != */../* && $path != /* ]] || die "a bad line in $root/$manifest: $path"
  done
  for path in "${entries[@]}"; do
    if [[ $path != */ && $path != "$manifest" && (-f $root/$path || -L $root/$path) ]]; then
      rm -f -- "$root/$path"
      files=$((files + 1))
    fi
  done
  rm -f -- "$root/$manifest" # last, so that what failed can be tried again
  for path in "${entries[@]}"; do # the deepest first; the prefix itself, "./", last
    if [[ $path == */ && -d $root/$path && ! -L $root/${path%/} ]]; then
      rmdir --ignore-fail-on-non-empty -- "$root/${path#./}"
    fi
  done
  tell_loader
  echo "uninstall: $((files + 1)) files removed from $root"
}

case ${1-} in
  install) put ;;
  uninstall) take_away ;;
  *)
    echo "usage: install.sh install|uninstall" >&2
    exit 2
    ;;
esac
