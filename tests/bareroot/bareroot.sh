#!/bin/bash
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
# BAREROOT_MIRROR is a mirror of Debian other than the usual one.
set -euo pipefail
cache=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
suite=bookworm
mirror=${BAREROOT_MIRROR:-http://deb.debian.org/debian}
days_max=7 # an older base would be upgraded more than it is used

say() { echo "bareroot: $*"; }
fail() {
    echo "bareroot: FAILED: $*" >&2
    exit 1
}

# Nothing was tried: this machine, or the way to the mirror, does not allow it. Exit code 75.
cannot() {
    echo "bareroot: CANNOT BE MADE HERE: $*" >&2
    exit 75
}

((EUID == 0)) || cannot "needs root, to make a root: sudo ./dev bareroot"
command -v debootstrap >/dev/null || cannot "needs debootstrap: apt-get install debootstrap"
unshare --mount --pid --fork true 2>/dev/null ||
    cannot "may not mount here; in a container, it must be one with CAP_SYS_ADMIN"

mkdir -p "$cache/archives"
cache=$(cd "$cache" && pwd)
work=$(mktemp -d "$cache/work.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

# A base that is whole has its name; half a one has not.
make_base() {
    [[ -z $(find "$cache/base.tar" -mtime "-$days_max" 2>/dev/null) ]] || return 0
    say "making a bare $suite from $mirror"
    debootstrap --variant=minbase "$suite" "$work/base" "$mirror" >"$work/log" 2>&1 ||
        cannot "debootstrap from $mirror: $(tail -n 5 "$work/log")"
    rm -f "$work/base/var/cache/apt/archives/"*.deb
    tar -C "$work/base" -cf "$work/base.tar" .
    mv "$work/base.tar" "$cache/base.tar"
    rm -rf --one-file-system "$work/base"
}

# root_create NAME: a bare root at $work/NAME that can reach the mirror.
root_create() {
    local root=$work/$1
    mkdir "$root"
    tar -C "$root" -xf "$cache/base.tar"
    # It is thrown away: dpkg need not wait for the disk after each file.
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/bareroot"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    cp "$here/$1.sh" "$here/readme.sh" "$root/root/"
    find "$cache/archives" -name '*.deb' -exec cp -t "$root/var/cache/apt/archives" {} +
}

# root_run NAME: runs its script in it. Processes and mounts end with it.
root_run() {
    local root=$work/$1
    say "$1: begins"
    unshare --mount --pid --fork --kill-child bash -c '
        mount -t proc proc "$1/proc" && exec chroot "$1" /usr/bin/env -i \
            PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb NO_COLOR=1 \
            ${2:+http_proxy="$2"} DEBIAN_FRONTEND=noninteractive bash "/root/$3.sh"
    ' _ "$root" "${http_proxy:-}" "$1" </dev/null || fail "$1 (see above)"
    find "$root/var/cache/apt/archives" -name '*.deb' -exec cp -n -t "$cache/archives" {} +
}

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
rm -rf --one-file-system "$work/builder"
root_run user
say "all as the READMEs say"
