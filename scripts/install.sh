#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh install|uninstall - installs Volta below $DESTDIR$PREFIX (by default /usr/local), or
# removes it. Before it copies the first file, it writes a manifest, share/volta/install_manifest.txt
# below the prefix: the paths of all files, relative to the prefix, and with a slash at the end the
# folders that it creates. Uninstalling removes only these files, and these folders if they are empty.
# VOLTA_BUILD names a build folder to install from without building. Otherwise build/ is built first,
# unless it belongs to another user (`make`, then `sudo make install`).
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

# Runs ldconfig, because the loader finds libraries in /usr and /usr/local by its cache.
update_loader_cache() {
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
  [[ -e $build/libvolta.so ]] || die "$build has no libvolta.so: run make first"
}

# folders_of: prints every parent folder of the paths on standard input, with a slash at the end.
folders_of() {
  local path
  while IFS= read -r path; do
    while [[ $path == */* ]]; do
      path=${path%/*}
      echo "$path/"
    done
  done | LC_ALL=C sort -u
}

# new_folders FILES: prints the parent folders of these files that do not exist; "./" is the prefix itself.
new_folders() {
  local folder
  if [[ ! -d $root ]]; then echo ./; fi
  while IFS= read -r folder; do
    if [[ ! -d $root/$folder ]]; then echo "$folder"; fi
  done < <(folders_of <"$1")
}

install_all() {
  build_first
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT
  # An installation into a temporary folder shows which files there will be.
  mkdir "$stage/root"
  DESTDIR=$stage/root cmake --install "$build" --prefix "$prefix" >"$stage/log" || die "$(cat "$stage/log")"
  [[ -d $stage/root$prefix ]] || die "$build installs nothing below $prefix"
  (cd "$stage/root$prefix" && find . ! -type d -printf '%P\n') >"$stage/files"
  if [[ $(find "$stage/root" ! -type d | wc -l) != $(wc -l <"$stage/files") ]]; then
    die "$build installs outside of the prefix; use cmake --install"
  fi
  echo "$manifest" >>"$stage/files"
  new_folders "$stage/files" >"$stage/folders"
  # The files of an earlier version stay in the manifest, so that uninstalling removes them too.
  if [[ -f $root/$manifest ]]; then cat "$root/$manifest" >>"$stage/files"; fi
  LC_ALL=C sort -u "$stage/files" "$stage/folders" >"$stage/manifest"
  install -d "$root/${manifest%/*}"
  install -m 644 "$stage/manifest" "$root/$manifest"
  DESTDIR=${DESTDIR-} cmake --install "$build" --prefix "$prefix" >"$stage/log" || die "$(cat "$stage/log")"
  rm -f "$build/install_manifest.txt" # CMake's own list, which knows only the latest installation
  update_loader_cache
  echo "install: $(grep -vc '/$' "$stage/manifest") files below $root"
}

uninstall() {
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
  rm -f -- "$root/$manifest" # after the files, so that a failed attempt can be repeated
  for path in "${entries[@]}"; do # the deepest first; the prefix itself, "./", last
    if [[ $path == */ && -d $root/$path && ! -L $root/${path%/} ]]; then
      rmdir --ignore-fail-on-non-empty -- "$root/${path#./}"
    fi
  done
  update_loader_cache
  echo "uninstall: $((files + 1)) files removed from $root"
}

case ${1-} in
  install) install_all ;;
  uninstall) uninstall ;;
  *)
    echo "usage: install.sh install|uninstall" >&2
    exit 2
    ;;
esac
