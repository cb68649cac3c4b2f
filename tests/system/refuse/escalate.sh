#!/bin/bash
# Goal:   a worker that fails past its bound, with `then: escalate`, ends the host with 70 and says
#         why; what other pools accepted is finished. Shows promise P13.
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
grep -q 'component=nest/bad#0 event="worker fails too often"' "$work/log" || fail "no reason"
grep -q 'out of memory' "$work/log" && fail "a wrong reason"
done=$(sed -n 's/.*component=good event="ledger" accepted=\([0-9]*\) done=\1 .*/\1/p' "$work/log")
[[ -n $done && $(wc -l <"$work/out") == "$done" ]] || fail "accepted, and not finished"
((failures == 0)) || cat "$work/log"
exit $((failures > 0))
