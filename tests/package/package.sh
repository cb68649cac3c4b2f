#!/bin/bash
# SPDX-License-Identifier: MIT
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
. "$here/older.sh"

make_base
root_create inside
inside=$work/inside/root
mkdir -p "$inside/weir/build/packages" "$inside/older"
cp "$packages"/*.deb "$inside/weir/build/packages"
cp "$source/README.md" "$source/docs/guide/database.md" "$inside/weir"
cp -r "$source/examples" "$inside/weir"
make_older "$inside/older" "$packages"/*.deb
root_run inside
say "installed, upgraded, removed and purged in a bare root"
