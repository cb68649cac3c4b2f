#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a host that has nothing to do does not wake: not one of its threads, not once. What is
#         asked of it then is done as ever. Shows promise D12.
# Method: the kernel counts how often each thread has gone to sleep. The host, with a control socket
#         and a watch on its file, is left alone until an interval has passed in which none did. The
#         interval is longer than the time between two beats, so one that beats leaves none; more
#         time only gives more chances. Then it applies a changed file, rests again, and ends.
#
#     rest.sh WEIR PLUGINS
set -uo pipefail
weir=$1
plugins=$2
work=$(mktemp -d)
host=
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT
mkfifo "$work/pipe"

fail() {
    printf 'FAILED: %s\n' "$*"
    tail -n 20 "$work/log"
    exit 1
}

pass_time() { read -r -t "$1" <>"$work/pipe"; }

# Waits for a line of the log; fails when the host ends before.
await() {
    while ! grep -q -e "$1" "$work/log"; do
        kill -0 "$host" 2>/dev/null || fail "the host ended before: $1"
        pass_time 0.02
    done
}

sleeps() { cat "/proc/$host/task/"*/status | awk '/^voluntary/ { sum += $2 } END { print sum }'; }

rests() {
    local before now
    before=$(sleeps)
    for ((i = 0; i < 40; i++)); do
        pass_time 1.3
        now=$(sleeps)
        [[ $now == "$before" ]] && return 0
        before=$now
    done
    fail "$1: some thread wakes again and again"
}

# text MAILBOX
text() {
    printf 'version: 1\n'
    printf 'host: {plugins: ["%s"], watch: true, control: "%s/socket"}\n' "$plugins" "$work"
    printf 'pools: {work: {use: sink.null, size: 4, mailbox: %s}}\n' "$1"
}

: >"$work/log"
text 10 >"$work/weir.yaml"
"$weir" run "$work/weir.yaml" >"$work/out" 2>"$work/log" &
host=$!
await 'component=host event="started"'
rests "after its start"
text 11 >"$work/new" && mv "$work/new" "$work/weir.yaml"
await 'event="configuration reloaded"'
"$weir" status -c "$work/socket" >"$work/status" || fail "weir status"
grep -q work "$work/status" || fail "no pool in the status"
rests "after a reload"
kill -TERM "$host"
wait "$host"
code=$?
host=
[[ $code == 0 ]] || fail "exit code $code"
echo ok
