#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a thread of a plugin submits tasks and waits for groups: the first failure, the time-out
#         and the end of its worker cancel the remaining tasks; the pool of tasks starts without a
#         worker and scales itself; and the plugin has fewer lines than a program with libuv that
#         does the same. Shows promise A25.
# Method: the test is the peer of both, and sends batches that take hours when they are not
#         cancelled; the connection breaks, the options are reloaded, and TERM comes while a batch
#         runs.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"
here=$source/tests/system/examples
export BATCHES_SOCKET=$work/socket BATCHES_CONTROL=$work/control

# Lines of code: without empty lines and comments.
lines() {
    sed -e 's|/\*.*\*/||' -e '/\/\*/,/\*\//d' "$1" | grep -c '[^[:space:]]'
}

# listen STEP...: the peer.
listen() {
    rm -f "$BATCHES_SOCKET"
    coproc peer { exec python3 "$here/batches.py" "$BATCHES_SOCKET" "$@" 2>"$work/peer"; }
    after listens
}

# serve: lets the peer begin.
serve() {
    after accepted
    echo >&"${peer[1]}"
    after serve
}

# after STEP: waits for it.
after() {
    local line=
    read -r line <&"${peer[0]}" && [[ $line == "$1" ]] ||
        fail "the peer said \"$line\", not $1: $(cat "$work/peer") $(cat log)"
}

read -ra flags <<<"${CFLAGS:-}"
try "$compiler" -std=c11 -D_GNU_SOURCE -O1 -o batches_libuv "$here/batches_libuv.c" \
    "${flags[@]}" -luv
: >log
listen serve close serve busy end
./batches_libuv "$BATCHES_SOCKET" >log 2>&1 &
host=$!
serve
after close
serve
after busy
kill -TERM "$host"
after end
wait "$peer_PID"
finish 0

# A reader that works for hours, and then one that has a millisecond.
sed 's/within: 10s/within: 1h/' batches/batches.yaml >batches.yaml
listen serve close serve busy end give-up end serve busy end
start batches.yaml
await 'event="started"'
serve
after close
serve
after busy
sed -i 's/within: 1h/within: 1ms/' batches.yaml
kill -HUP "$host"
for step in end give-up; do after $step; done
await 'event="configuration reloaded"'
sed -i 's/within: 1ms/within: 1h/' batches.yaml
kill -HUP "$host"
await 'event="configuration reloaded"' 2
after end
serve
after busy
kill -TERM "$host"
after end
finish 0
grep -q 'component=checks event="resized".* by=scale' log ||
    fail "the tasks started no worker: $(cat log)"

ours=$(lines "$name/batches.c") theirs=$(lines "$here/batches_libuv.c")
((ours < theirs)) || fail "$ours lines of code, $theirs with libuv"
grep -q "has $theirs lines of code, where \`batches.c\` has $ours" "$name/README.md" ||
    fail "the README says something else than $ours and $theirs"
