#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: the unit of the package works under systemd itself: start, reload, restart, watchdog, stop,
# journal, a socket that systemd has opened, upgrade and removal of the package.
# Shows promise R19 and promise B6.
# Method: systemd of a bare root boots as process 1 of namespaces of its own, with a hierarchy of
# control groups of its own; service.sh runs there as a service, whose end ends the system.
#
# Usage, as root: booted.sh CACHE PACKAGES. Exit code 75: no root can be made or booted here.
set -euo pipefail
name=booted
cache=$1
packages=$(cd "$2" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$here/../bareroot/root.sh"
. "$here/older.sh"

# In a group of its own, of which the new namespace sees nothing else.
boot() {
    local root=$work/service group=$work/groups/weir-test.$$
    mkdir "$work/groups"
    mount -t cgroup2 cgroup2 "$work/groups" || cannot "control groups cannot be mounted"
    mkdir "$group"
    (
        echo "$BASHPID" >"$group/cgroup.procs"
        exec unshare --mount --pid --cgroup --uts --ipc --fork --kill-child bash -euc '
            root=$1
            mount --bind "$root" "$root"
            mount -t proc proc "$root/proc"
            mount -t sysfs sysfs "$root/sys"
            mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
            mount -t tmpfs tmpfs "$root/run"
            mount -t tmpfs -o mode=755 tmpfs "$root/dev"
            mkdir "$root/dev/shm" "$root/dev/pts"
            mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
            ln -s pts/ptmx "$root/dev/ptmx" # PrivateDevices= looks for it
            for name in null zero full random urandom tty; do
                touch "$root/dev/$name"
                mount --bind "/dev/$name" "$root/dev/$name"
            done
            cd "$root"
            pivot_root . mnt
            exec chroot . sh -c "umount -l /mnt && exec env -i container=weir-test \
                /lib/systemd/systemd --unit=weir-test.service --log-target=journal"
        ' _ "$root"
    ) </dev/null >"$work/console" 2>&1
}

# No process of the namespaces is left.
end() {
    if [[ -d $work/groups/weir-test.$$ ]]; then
        find "$work/groups/weir-test.$$" -depth -type d -exec rmdir {} \;
        umount "$work/groups"
    fi
    rm -rf --one-file-system "$work"
}
trap end EXIT

make_base
root_create service
mkdir "$work/service/root/newer"
cp "$packages"/weir_*.deb "$packages"/weir-plugins_*.deb "$work/service/root/newer"
make_older "$work/service/root/older" "$work/service/root/newer"/*.deb
cat >"$work/service/etc/systemd/system/weir-test.service" <<'END_OF_UNIT'
[Unit]
Requires=basic.target dbus.socket
After=basic.target dbus.socket
SuccessAction=exit
FailureAction=exit

[Service]
Type=oneshot
TimeoutStartSec=5min
ExecStart=/bin/bash /root/service.sh
StandardOutput=file:/root/said
StandardError=inherit
END_OF_UNIT
say "installs systemd and the packages"
root_exec service bash -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends \
    systemd dbus procps /root/older/*.deb' >"$work/log" 2>&1 || fail "$(tail "$work/log")"
find "$work/service/var/cache/apt/archives" -name '*.deb' -exec cp -n -t "$cache/archives" {} +
say "boots"
status=0
boot || status=$?
[[ -e $work/service/root/said ]] || cannot "systemd does not boot: $(tail -n 5 "$work/console")"
cat "$work/service/root/said"
((status == 0)) || fail "under systemd (see above)"
say "the unit works under systemd"
