# SPDX-License-Identifier: MIT
# Sourced by tests that need a Debian with nothing of this machine but its /proc. Before, they set:
#   name    of the test, for its messages
#   here    the folder of the scripts that run inside, as an absolute path
#   source  the tree
#   cache   a folder for the bare root and the packages of the next run
# Exit code 75: no root can be made here, nothing was tried. BAREROOT_MIRROR is a mirror of Debian
# other than the usual one.
suite=bookworm
mirror=${BAREROOT_MIRROR:-http://deb.debian.org/debian}
days_max=7 # an older base would be upgraded more than it is used

say() { echo "$name: $*"; }
fail() {
    echo "$name: FAILED: $*" >&2
    exit 1
}

# Nothing was tried: this machine, or the way to the mirror, does not allow it. Exit code 75.
cannot() {
    echo "$name: CANNOT BE MADE HERE: $*" >&2
    exit 75
}

((EUID == 0)) || cannot "needs root, to make a root: sudo"
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
    cp "$here/$1.sh" "$source/tests/bareroot/readme.sh" "$root/root/"
    find "$cache/archives" -name '*.deb' -exec cp -t "$root/var/cache/apt/archives" {} +
}

# root_exec NAME COMMAND...: runs it in the root. Processes and mounts end with it.
root_exec() {
    local root=$work/$1
    shift
    unshare --mount --pid --fork --kill-child bash -c '
        root=$1 proxy=$2
        shift 2
        mount -t proc proc "$root/proc" && exec chroot "$root" /usr/bin/env -i \
            PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb NO_COLOR=1 \
            ${proxy:+http_proxy="$proxy"} DEBIAN_FRONTEND=noninteractive "$@"
    ' _ "$root" "${http_proxy:-}" "$@" </dev/null
}

# root_run NAME: runs its script in it.
root_run() {
    say "$1: begins"
    root_exec "$1" bash "/root/$1.sh" || fail "$1 (see above)"
    find "$work/$1/var/cache/apt/archives" -name '*.deb' -exec cp -n -t "$cache/archives" {} +
}
