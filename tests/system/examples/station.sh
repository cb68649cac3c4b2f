#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   what the guide says of options, logging, timers, keys, events, the stash, ports, positions
#         and blobs holds in a running host, too.
# Method: the readings repeat every 100 numbers, so sums and alarms are known; a reload changes the
#         args of the source and live options of a worker.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"

# 10 times each value of 0..99; alarms are 0, 1, 98 and 99.
start station/station.yaml
finish 0
[[ $(sort printed) == "screen 0: 40 pictures
screen 1: 40 pictures
sum 49500" ]] || fail "printed: $(cat printed)"
grep -q 'component=warm_up#[01] .*event="warm" waiting=' log || fail "not warm: $(cat log)"

# The source goes on with other args, and `watch` takes new bounds without a new worker.
sed 's/count: 1000}/count: 100000000}/; s/high: 97/high: 99/; s/low: 2/low: 0/' \
    station/station.yaml >shaped.yaml
start shaped.yaml
await 'event="warm"'
sed -i 's/count: 100000000}/count: 300000000}/; s/low: 0/low: 1/' shaped.yaml
kill -HUP "$host"
await 'event="configuration reloaded"'
await 'event="bounds" low=1 high=99'
kill -TERM "$host"
finish 75
! grep -q 'position lost' log || fail "the position was lost"

# Bounds that cross are a mistake of the file, with its place.
sed 's/low: 2/low: 98/' station/station.yaml >crossed.yaml
code=0
"$weir" check crossed.yaml >said 2>&1 || code=$?
[[ $code == 78 ]] && grep -q 'pools.watch.args.low: must not be above high, which is 97' said ||
    fail "check: $code: $(cat said)"
