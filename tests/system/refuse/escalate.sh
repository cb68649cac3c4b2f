#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a worker that fails past its bound, with `then: escalate`, is opened again by the pools
#         above it as often as they say, and then ends the host with 70, which says why; what other
#         pools accepted is finished. Shows promise P13.
# Method: numbers go to a nested pool each of whose handlings is a fault, and others to one that
#         records them; the records are compared with the ledger.
#
#     escalate.sh WEIR PLUGINS FAULTY
set -uo pipefail
weir=$1
work=$(mktemp -d)
host=
failures=0
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}

cat >"$work/weir.yaml" <<END
version: 1
host: {plugins: ["$2", "$3"]}
sources:
  numbers: {use: gen.numbers, args: {count: 1000000000000}, to: nest}
  others: {use: gen.numbers, args: {count: 1000000000000}, to: good}
pools:
  nest:
    restart: {max: 1, within: 1h}
    members:
      inner:
        restart: {max: 2, within: 1h, then: escalate}
        members:
          bad: {use: unruly.verdict, size: 1, restart: {max: 2, within: 1h, then: escalate}}
  good: {use: sink.record, size: 1, args: {path: "$work/out"}}
END
"$weir" run "$work/weir.yaml" >"$work/stdout" 2>"$work/log" &
host=$!
wait "$host"
code=$?
host=
[[ $code == 70 ]] || fail "exit code $code"
count() {
    local wanted=$1 got
    got=$(grep -c "$2" "$work/log")
    [[ $got == "$wanted" ]] || fail "$got times, not $wanted: $2"
}
# Three failures of the worker each time; inner opens it again twice, nest opens inner again once.
count 6 'component=nest/inner/bad#0 event="worker fails too often"'
count 4 'component=nest/inner event="member failed"'
count 2 'component=nest/inner event="member fails too often" member=nest/inner/bad failures=3'
count 1 'component=nest event="member failed"'
count 1 'component=nest event="member fails too often" .*effect="the program is to end"'
grep -q 'out of memory' "$work/log" && fail "a wrong reason"
done=$(sed -n 's/.*component=good event="ledger" accepted=\([0-9]*\) done=\1 .*/\1/p' "$work/log")
[[ -n $done && $(wc -l <"$work/out") == "$done" ]] || fail "accepted, and not finished"
((failures == 0)) || cat "$work/log"
exit $((failures > 0))
