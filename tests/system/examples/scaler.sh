#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a plugin alone makes its pool larger while messages pile up, smaller when there is nothing
#         to do, and never leaves the bounds in the file; nothing is lost on the way. Shows promise
#         X5.
# Method: a source without an end, until the pool has its largest size; then none, until it has its
#         smallest. Every wait is for a line of the log.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"

# shape LINE...: the example with these lines for its source, and another one that nobody serves,
# which holds the host open.
shape() {
    sed '/^  numbers:/d; s/spin: 1000000/spin: 100000/; s/calm: 500ms/calm: 60ms/' \
        scaler/scaler.yaml >new.yaml
    echo '  nobody: {use: sink.null, size: 0}' >>new.yaml
    sed -i '/^sources:/r /dev/stdin' new.yaml < <(printf '%s\n' "$@")
    mv new.yaml shaped.yaml
}
held='  held: {use: gen.forever, to: nobody}'
shape '  numbers: {use: gen.forever, to: work}' "$held"
start shaped.yaml
await 'component=work .*event="scaled" from=1 to=2'
await 'component=work .*event="scaled" from=3 to=4'
shape "$held"
kill -HUP "$host"
await 'event="configuration reloaded"'
await 'component=work .*event="scaled" from=4 to=3 queued=0'
await 'component=work .*event="scaled" from=2 to=1 queued=0'
# A finite one instead of the two: the host ends by itself.
shape '  numbers: {use: gen.numbers, args: {count: 200}, to: work}'
kill -HUP "$host"
finish 0
! grep -E 'event="scaled".* to=(0|[5-9])' log || fail "it left its bounds"
# A pool that grows moves messages to its new workers, which accept them once more.
awk '/component=work .*event="ledger"/ {
         for (i = 1; i <= NF; i++) { split($i, field, "="); n[field[1]] = field[2] }
     }
     END { exit n["accepted"] == "" || n["dead"] != 0 || n["accepted"] != n["done"] + n["moved"] }
    ' log ||
    fail "something was lost: $(grep ledger log)"
