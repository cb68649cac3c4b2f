#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a run in which work was lost says so, in the log and by its exit code. Shows promises H2,
#         H9 and H11.
# Method: finite runs of wayward.so; the log and the exit code of each.
#
#     silent.sh WEIR PLUGINS FAULTY
set -uo pipefail
weir=$1
plugins=$2
faulty=$3
work=$(mktemp -d)
host=
failures=0
. "${BASH_SOURCE%/*}/../support/wait.sh" || exit 1
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    tail -n 20 "$work/log"
    failures=$((failures + 1))
}

# run CODE POOL [OPTION]: ten numbers go through a pool
run() {
    local code
    printf 'version: 1\nhost: {plugins: ["%s", "%s"], log: {format: logfmt}}\n' \
        "$plugins" "$faulty" >"$work/weir.yaml"
    printf 'sources: {numbers: {use: gen.numbers, args: {count: 10}, to: work}}\n' \
        >>"$work/weir.yaml"
    printf 'pools: {work: {size: 1, %s}}\n' "$2" >>"$work/weir.yaml"
    "$weir" run ${3:+"$3"} "$work/weir.yaml" >"$work/out" 2>"$work/log"
    code=$?
    ((code == $1)) || fail "$2 ${3:-}: exit $code, wanted $1"
}

# says COUNT REGEX: so many lines of the log match
says() {
    local count
    count=$(grep -cE -e "$2" "$work/log")
    ((count == $1)) || fail "$count lines, wanted $1: $2"
}

# run_until REGEX FILE: runs until a line of the log matches, then ends it
run_until() {
    : >"$work/log" # that of the run before does not count
    "$weir" run "$2" >"$work/out" 2>"$work/log" &
    host=$!
    local began=$SECONDS
    until grep -q -e "$1" "$work/log"; do
        kill -0 "$host" 2>/dev/null || { fail 'the host ended'; return; }
        wait_more "$began" "a line of the log: $1"
    done
    kill -TERM "$host" && wait "$host"
    host=
}

# last REGEX: the last line of the log matches
last() {
    tail -n 1 "$work/log" | grep -qE -e "$1" || fail "the last line lacks: $1"
}

run 65 'use: wayward.reject'
says 10 'level=warning component=work event="dead letter: the worker rejected it" reason=rejected '
says 10 'detail="no such picture" tag=gen.number/1 worker=0 attempt=1$'
last 'component=host event="ended" exit=65 but="10 messages are dead \(10 rejected\)"'

run 0 'use: wayward.reject' --allow-dead
last 'level=warning component=host event="ended" exit=0 but="10 messages are dead \(10 rejected\)"'

run 0 'use: wayward.fail, redeliver: 1, restart: {max: 100, within: 1s, backoff: 1ms..1ms}'
last 'level=warning component=host event="ended" exit=0 but="workers failed 10 times"'

run 0 'use: wayward.retry'
says 10 'level=info component=work event="message is given again" detail="not yet" '
says 10 ' worker=0 attempt=[12] after_ms=1$'
says 1 'component=work event="ledger" .* retried=20 '
last 'level=info component=host event="ended" exit=0$'

run 0 'use: sink.record, args: {path: /dev/null}'
last 'level=info component=host event="ended" exit=0$'

# A worker that stops says so, and not that it is replaced with its mailbox.
run 70 'use: wayward.fail, restart: {max: 0, within: 1s, backoff: 1ms..1ms, then: escalate}'
says 1 'event="worker failed" .* effect="stopped, its mailbox is handed on or dead"'
says 0 'mailbox kept'

# What was sent once stays where it is, whatever the plugin does with it then.
run 0 'use: wayward.twice, outputs: {out: end}}, end: {use: sink.null, size: 1'
says 1 'component=work#0 event="sent or freed a message that is not its own any more" pool=work '
says 1 'plugin=wayward .* behaviour=twice .* effect="refused, the message stays where it is"'
says 1 'component=end event="ledger" accepted=10 done=10 '
says 1 'component=work event="ledger" .* misuses=20 .* balance=exact'

# Messages without keys: logged at the first message, and found by the check where it is declared.
printf 'version: 1\nhost: {plugins: ["%s", "%s"], shutdown_timeout: 1s}\n' "$plugins" "$faulty" \
    >"$work/hash.yaml"
printf 'sources: {numbers: {use: wayward.one, to: work}}\n' >>"$work/hash.yaml"
printf 'pools: {work: {use: sink.null, size: 2, route: hash}}\n' >>"$work/hash.yaml"
run_until 'without a key' "$work/hash.yaml"
says 1 'component=work event="a message without a key, and the pool routes by hash" from=numbers '
says 1 'effect="the pool does not take it; set message->key \(weir_key\), or give it another route"'
says 0 'event="worker failed" reason="" '

# Likewise a pool below the one that a source feeds, also when its neighbour takes the messages.
sed 's/{use: sink.null, size: 2, route: hash}/{members: {deep: &}}/' "$work/hash.yaml" \
    >"$work/deep.yaml"
run_until 'without a key' "$work/deep.yaml"
says 1 'component=work/deep event="a message without a key, .* from=numbers '
sed 's/{use: sink.null, size: 2, route: hash}/{members: {other: {use: sink.null}, deep: &}}/' \
    "$work/hash.yaml" | sed 's/wayward.one/gen.forever/' >"$work/mixed.yaml"
run_until 'without a key' "$work/mixed.yaml"
says 1 'component=work/deep event="a message without a key, .* from=numbers '

sed 's/wayward.one/wayward.keyless/' "$work/hash.yaml" >"$work/keyless.yaml"
"$weir" check "$work/keyless.yaml" >"$work/out" 2>"$work/log" && fail 'no key: the check is content'
says 1 'sources.numbers.to: work routes by hash, but wayward.keyless sets no key: '
sed 's/wayward.one/gen.forever/' "$work/hash.yaml" >"$work/keyless.yaml"
"$weir" check "$work/keyless.yaml" >"$work/out" 2>"$work/log" && fail 'gen: the check is content'
says 1 'gen.forever sets no key: .* give the pool another route, or the source `key: true`'
sed 's/wayward.one/gen.forever, args: {key: true}/' "$work/hash.yaml" >"$work/keyed.yaml"
"$weir" check "$work/keyed.yaml" >"$work/out" 2>"$work/log" || fail 'the check wants another key'
sed 's/wayward.one/wayward.idle/; s/, route: hash//' "$work/hash.yaml" \
    >"$work/idle.yaml"
run_until 'nothing will wake it' "$work/idle.yaml"
says 1 'component=numbers event="produce waits, and nothing will wake it" .* behaviour=idle '

sed 's/size: 2, route: hash/size: 0/' "$work/hash.yaml" >"$work/empty.yaml"
"$weir" check "$work/empty.yaml" >"$work/out" 2>"$work/log" || fail 'an empty pool is no mistake'
says 1 'warning: .*work begins without workers: the source waits until it is scaled'

[[ $failures == 0 ]] && echo 'all as expected'
exit $((failures > 0))
