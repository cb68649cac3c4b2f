#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   the example gives each line back, backwards, to any number of connections at once, with as
#         many threads as ever; reports how many there are; and ends on request, with
#         connections open. Shows promise X6.
# Method: a client with 200 connections, one that floods and one that sends too long a line; then
#         `weir inspect`, and TERM.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"

export LINES_SOCKET=$work/socket LINES_CONTROL=$work/control
start lines/lines.yaml
await 'event="started"'
threads=$(ls "/proc/$host/task" | wc -l)
coproc client { python3 "${BASH_SOURCE[0]%.sh}.py" "$LINES_SOCKET" 200; }
read -r line <&"${client[0]}" || fail "the client gave up: $(cat log)"
[[ $line == ready ]] || fail "the client said: $line"
[[ $(ls "/proc/$host/task" | wc -l) == "$threads" ]] || fail "there are more threads now"

# Those that were closed are heard of in the listener's turn: a moment later.
until "$weir" inspect --control "$LINES_CONTROL" 'lines#0' >items &&
    grep -q '^connections *200$' items; do
    kill -0 "$host" || fail "the host ended: $(cat log)"
done
grep -q '^served *202$' items || fail "$(cat items)"
kill -TERM "$host"
finish 0
[[ ! -e $LINES_SOCKET ]] || fail "it left its socket"
