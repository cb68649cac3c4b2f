#!/bin/bash
# Goal: the packages install, upgrade, remove and purge cleanly on a Debian that has nothing, and
# what they install works: a host runs, an author builds a plugin and a program, and the commands of
# docs/guide/database.md pool connections to a PostgreSQL.
# Shows promise B6.
# Method: a bare root (tests/bareroot/root.sh) gets the packages, the same packages with a lower
# version, the README and the examples; inside.sh does the rest.
#
# Usage, as root: package.sh CACHE PACKAGES. Exit code 75: no root can be made here.
set -euo pipefail
name=package
cache=$1
packages=$(cd "$2" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$here/../bareroot/root.sh"

# older FROM TO: the package as an earlier version had it: with other lines in its files of
# configuration, and with a file that the newer one no longer has.
older() {
    local tree=$work/older file version
    version=$(dpkg-deb --field "$1" Version)
    dpkg-deb --raw-extract "$1" "$tree"
    sed -i -E "/^(Version|Depends):/ s/${version//./\\.}/0.0.9/g" "$tree/DEBIAN/control"
    grep -q '^Version: 0.0.9$' "$tree/DEBIAN/control" || fail "no version to lower in $1"
    while read -r file; do
        echo "# of 0.0.9" >>"$tree$file"
    done < <(cat "$tree/DEBIAN/conffiles" 2>/dev/null)
    if [[ -d $tree/usr/share/weir ]]; then
        echo "of 0.0.9" >"$tree/usr/share/weir/gone"
    fi
    (cd "$tree" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
    dpkg-deb --root-owner-group --build "$tree" "$2" >/dev/null
    rm -r "$tree"
}

make_base
root_create inside
inside=$work/inside/root
mkdir -p "$inside/weir/build/packages" "$inside/older"
cp "$packages"/*.deb "$inside/weir/build/packages"
cp "$source/README.md" "$source/docs/guide/database.md" "$inside/weir"
cp -r "$source/examples" "$inside/weir"
for package in "$packages"/*.deb; do
    older "$package" "$inside/older/$(basename "$package" | sed 's/_.*_/_0.0.9_/')"
done
root_run inside
say "installed, upgraded, removed and purged in a bare root"
