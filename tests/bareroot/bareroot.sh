#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: on a Debian that has nothing, the README is enough to build and install Weir; and on another
# one that has only what was installed, the README of `weir new plugin` is enough to make, build,
# test, run and install a plugin, and so is that of each example.
# Shows promise B6.
# Method: two bare roots (debootstrap, minbase) with nothing of this machine but its /proc. The
# commands are taken out of the READMEs. builder.sh gets the tree and installs to an empty prefix;
# user.sh gets that, moved to another place, and the folder examples/, as a user without rights.
#
# Usage, as root: bareroot.sh CACHE. The bare root and packages are kept in CACHE, so that the
# second run is short. Exit code 75: no root can be made here, nothing was tried.
set -euo pipefail
name=bareroot
cache=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$here/root.sh"

make_base
root_create builder
mkdir "$work/builder/root/weir"
# As a fresh clone has it, with what is not committed yet.
git -C "$source" -c safe.directory="$source" ls-files -z --cached --others --exclude-standard \
    >"$work/files" || fail "$source is no git clone"
(cd "$source" && tar --null -T "$work/files" --ignore-failed-read -cf -) |
    tar -C "$work/builder/root/weir" --no-same-owner -xf -
root_run builder

root_create user
mv "$work/builder/opt/weir" "$work/user/opt/moved"
cp "$work/builder/root/weir/README.md" "$work/user/root/README.md"
cp -r "$work/builder/root/weir/examples" "$work/user/root/examples"
cp "$source/tests/system/connectors/recipes.py" "$work/user/root"
rm -rf --one-file-system "$work/builder"
root_run user
say "all as the READMEs say"
