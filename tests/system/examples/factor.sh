#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   every question gets exactly one answer, and the right one, also when those who answer
#         come and go. Shows promise X3.
# Method: the answers are compared with those of factor(1) of coreutils.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"

expected() { seq "$1" | factor; }

export FACTOR_COUNT=20000
start factor/factor.yaml
finish 0
sort -n printed | cmp -s - <(expected 20000) || fail "others: $(diff <(sort -n printed) \
    <(expected 20000) | head -5)"

# While those who answer come and go.
shape() {
    sed "/factor.divide/,/size:/s/size: [0-9]*/size: $1/; s/timeout: 5s/timeout: 1h/" \
        factor/factor.yaml >new.yaml
    mv new.yaml shaped.yaml
}
export FACTOR_COUNT=200000
shape 1
start shaped.yaml
await 'event="started"'
reloads=0
for size in 4 2 3; do
    shape "$size"
    kill -HUP "$host"
    await 'event="configuration reloaded"' $((++reloads))
done
finish 0
sort -n printed | cmp -s - <(expected 200000) || fail "others: $(diff <(sort -n printed) \
    <(expected 200000) | head -5)"
