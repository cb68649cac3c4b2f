#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   the example builds without a server, and a host that finds none says so.
# Method: the example's own test, in the test kit; then the host with a folder that has no socket.
#         ./dev servers runs the example with a PostgreSQL of its own.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"

code=0
PGPOOL_CONNINFO="host=$work user=nobody" PGPOOL_CONTROL=$work/control.sock \
    "$weir" run pgpool/pgpool.yaml >printed 2>log || code=$?
[[ $code == 69 ]] || fail "exit code $code: $(cat log)"
grep -q 'component=db.*No such file or directory' log || fail "it does not say why: $(cat log)"

"$weir" check pgpool/nodes.yaml >printed 2>&1 || fail "nodes.yaml: $(cat printed)"
