#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: a plugin built with the headers of SDK 1.0 is checked, described and run by today's host.
# Shows promise B4.
# Method: tests/plugins/abi/abi_1_0.so, compiled with the headers as they were, and the real
# program. It asks, answers, keeps, waits for a timer and reads a pool's figures. Usage: abi.sh
# WEIR PLUGINS
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
has() { grep -qF -- "$2" "$1" || fail "$1 lacks \"$2\": $(cat "$1")"; }

"$weir" check --plugin "$plugins/abi_1_0.so" >checked
has checked 'ok (abi_1_0 1.0.0, 3 behaviours)'
"$weir" describe abi_1_0 >described
has described 'abi_1_0 1.0.0 (SDK 1.0)'
has described 'abi_1_0.square (worker)'
has described 'integer 0..1000, default 0, live'
has described 'one of plain | fancy, default plain'
has described 'one by one; required'
"$weir" check "$here/abi_1_0.yaml" >checked
sed 's/add: 1,/add: 13,/' "$here/abi_1_0.yaml" >unlucky.yaml
"$weir" check unlucky.yaml >checked 2>&1 && fail 'its check was not asked'
has checked '13 brings bad luck'

code=0
"$weir" run "$here/abi_1_0.yaml" >printed 2>log || code=$?
((code == 3)) || fail "exit code $code, not 3: $(cat log)"
sort printed >found
cat >expected <<'LINES'
answers 3 done 4
late 0 pool 1
square 1 4
square 2 9
square 3 16
stats 1 marks 8
LINES
cmp -s expected found || fail "it printed: $(diff expected found)"
has log 'words=2 names=1 factor=0.5'
