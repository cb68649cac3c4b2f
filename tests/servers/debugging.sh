#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: debuggers, checkers of memory and profilers work with a plugin as docs/guide/debugging.md
#       shows.
# Method: an installed Weir, an empty folder, the commands of the page. A machine that forbids perf
#         is named, and the commands with perf are left out there.
#
# Usage: debugging.sh CMAKE BUILD SOURCE
set -euo pipefail
cmake=$1 build=$2
source=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
page=docs/guide/debugging.md
mkdir -p "$work/tree/${page%/*}" "$work/tree/examples"
if perf record -q -e cpu-clock -o "$work/perf.data" true >/dev/null 2>&1; then
    cp "$source/$page" "$work/tree/$page"
else
    echo "debugging: this machine forbids perf: its commands are left out"
    sed '/^## perf/,/^## Edit/d' "$source/$page" >"$work/tree/$page"
fi
CMAKE_PREFIX_PATH=$work/prefix python3 "$source/tests/system/connectors/transcripts.py" \
    "$work/prefix/bin/weir" "$work/prefix/lib/weir/plugins" "$work/tree" --session "$page"
