#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: a pool subscribes to events by its file: one worker gets each, or with fan_out all do.
# Shows promise A8.
# Method: a source that publishes five events to two pools, and the lines of all who heard one.
# Usage: events.sh WEIR PLUGINS
set -euo pipefail
weir=$1 plugins=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEIR_PLUGIN_PATH=$plugins
cd "$work"
fail() {
    echo "FAIL: $*" >&2
    exit 1
}

"$weir" run "$here/events.yaml" >printed 2>log || fail "exit code $?: $(cat log)"
for event in 1 2 3 4 5; do
    # The speaker hears of its first subscriber; the second may have joined by then.
    grep -qx "said $event to 4, not to 0, of [12]" printed || fail "$event: $(cat printed)"
    (($(grep -c "^heard $event in some#[01]$" printed) == 1)) || fail "one of some: $(cat printed)"
    for worker in 0 1 2; do
        (($(grep -c "^heard $event in all#$worker$" printed) == 1)) || fail "all: $(cat printed)"
    done
done
(($(grep -c '^heard' printed) == 20)) || fail "heard too often: $(cat printed)"

name=$(printf 'x%.0s' {1..128})
sed "s/\[weather\]/[$name]/" "$here/events.yaml" >long.yaml
"$weir" check long.yaml >checked 2>&1 && fail 'a name of 128 bytes was taken'
grep -qF 'pools.deaf.subscribe: the name of an event has 1 to 127 bytes, got 128' checked ||
    fail "$(cat checked)"
