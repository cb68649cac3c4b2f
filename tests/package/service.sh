#!/bin/bash
# SPDX-License-Identifier: MIT
# In a bare root that systemd has booted: see booted.sh. Runs as a service of the boot, so its end
# ends the system.
set -euo pipefail
fail() {
    echo "FAILED: $*"
    journalctl --no-pager -u 'weir@*' -n 40
    exit 1
}
trap 'echo "FAILED: line $LINENO"' ERR

# until_true COMMAND...: repeats it until it succeeds, at most a minute.
until_true() {
    local i
    for ((i = 0; i < 600; i++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    fail "never true: $*"
}

property() { systemctl show --value -p "$1" weir@demo; }
expect() { [[ $(property "$1") == "$2" ]] || fail "$1 is $(property "$1"), not $2"; }
workers_are() { weir status work -c /run/weir/demo/control.sock | grep -Eqw "$1"; }
restarted() { [[ $(property NRestarts) == "$1" && $(property ActiveState) == active ]]; }

# write SIZE MORE: the file of the host, with a source that never ends.
write() {
    cat >/etc/weir/demo.yaml <<END_OF_FILE
version: 1
host: {control: "\${WEIR_CONTROL:-/run/weir/demo/control.sock}"}
dispatchers: {default: {threads: 1}}
sources:
  numbers: {use: gen.forever, to: work, rate: 100/s}
pools:
  work: {use: sink.null, size: $1}
$2
END_OF_FILE
}

echo "systemd $(systemctl --version | awk 'NR == 1 { print $2 }') runs as process 1"

# --- start, reload, wrong files

write 2 ''
systemctl start weir@demo || fail "start: $?"
expect ActiveState active
expect NotifyAccess main
[[ $(ps -o user= -p "$(property MainPID)") == weir ]] || fail "the host runs as another user"
[[ $(property StatusText) == *generation* ]] || fail "status: $(property StatusText)"
workers_are 2 || fail "not two workers"
write 3 ''
systemctl reload weir@demo || fail "reload: $?"
workers_are 3 || fail "not three workers after the reload"
write 4 'wrong: yes'
! systemctl reload weir@demo 2>/dev/null || fail "a reload of a wrong file succeeds"
expect ActiveState active
workers_are 3 || fail "a wrong file changed the host"
until_true eval "journalctl -u weir@demo -p err -o cat | grep -q 'wrong: '"
! journalctl -u weir@demo -p warning -o cat | grep -q 'level=info' ||
    fail "info has a priority of warning"
journalctl -u weir@demo -p info -o cat | grep -q 'event="started"' || fail "no info in the journal"
echo "started as weir, reloaded; a wrong file is refused, and the journal has its error as an error"

# --- what does not run any more is started again

write 2 ''
kill -KILL "$(property MainPID)"
until_true restarted 1
mkdir -p /etc/systemd/system/weir@demo.service.d
printf '[Service]\nWatchdogSec=3\n' >/etc/systemd/system/weir@demo.service.d/test.conf
systemctl daemon-reload
systemctl restart weir@demo || fail "restart: $?"
kill -STOP "$(property MainPID)"
until_true restarted 1
journalctl -u weir@demo -o cat | grep -q 'Watchdog timeout' || fail "no time-out of the watchdog"
echo "a host that was killed, and one that stood still, are started again"

# --- stop, and a file that is wrong at the start

systemctl stop weir@demo || fail "stop: $?"
expect ActiveState inactive
expect Result success
[[ ! -e /run/weir/demo ]] || fail "/run/weir/demo is left"
write 2 'wrong: yes'
! systemctl start weir@demo 2>/dev/null || fail "a wrong file starts"
expect ExecMainStatus 78
expect NRestarts 0
systemctl reset-failed weir@demo
echo "stopped in order; a wrong file ends with 78, and causes no restart"

# --- a socket that systemd has opened

write 2 ''
cat >/etc/systemd/system/weir@demo.socket <<'END_OF_FILE'
[Socket]
ListenStream=/var/lib/weir/demo/control.sock
SocketUser=weir
SocketMode=0600
END_OF_FILE
printf '[Service]\nEnvironment=WEIR_CONTROL=/var/lib/weir/demo/control.sock\n' \
    >/etc/systemd/system/weir@demo.service.d/test.conf
systemctl daemon-reload
systemctl start weir@demo.socket || fail "socket: $?"
expect ActiveState inactive
weir status work -c /var/lib/weir/demo/control.sock >/root/status ||
    fail "no answer at the socket of systemd"
expect ActiveState active
systemctl restart weir@demo
[[ -S /var/lib/weir/demo/control.sock ]] || fail "the socket went with the host"
weir status work -c /var/lib/weir/demo/control.sock >/root/status ||
    fail "no answer after a restart"
echo "a command at the socket that systemd has opened starts the host, and the socket stays"

# --- an upgrade of the package

pid=$(property MainPID)
apt-get install -y -qq /root/newer/*.deb >/root/apt.log 2>&1 ||
    fail "upgrade: $(tail /root/apt.log)"
! dpkg-query -W weir weir-plugins | grep -w 0.0.9 || fail "not upgraded"
expect MainPID "$pid"
expect NeedDaemonReload no
[[ $(readlink "/proc/$pid/exe") == '/usr/bin/weir (deleted)' ]] ||
    fail "the program is the same file"
write 3 ''
systemctl reload weir@demo || fail "reload after the upgrade: $?"
expect MainPID "$pid"
weir status work -c /var/lib/weir/demo/control.sock | grep -qw 3 ||
    fail "not three workers after the upgrade"
systemctl restart 'weir@*.service' || fail "restart after the upgrade: $?"
[[ $(readlink "/proc/$(property MainPID)/exe") == /usr/bin/weir ]] || fail "the former program runs"
echo "upgraded beside the host, which reloaded; a restart took the newer program"

# --- hardening, as systemd counts it, and the removal of the package

exposure=$(systemd-analyze security weir@demo |
    sed -n 's/.*exposure level[^:]*: \([0-9.]*\) .*/\1/p')
[[ $exposure && ${exposure%.*} -lt 2 ]] || fail "exposure: $exposure"
systemctl enable weir@demo 2>/dev/null || fail "enable: $?"
apt-get remove -y -qq weir >/root/apt.log 2>&1 || fail "remove: $(tail /root/apt.log)"
[[ $(property ActiveState) == inactive ]] || fail "the removed host is $(property ActiveState)"
! pgrep -x weir >/dev/null || fail "a removed host runs on"
echo "exposure $exposure; the removal of the package stopped the host"
