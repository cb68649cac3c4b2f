#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: debuggers, checkers of memory and profilers work with a plugin as docs/guide/debugging.md
#       shows; also with a worker in a process of its own.
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

# A debugger that opened the plugin by a name of the worker's own descriptor waited for ever.
cat >"$work/apart.yaml" <<END
version: 1
host: {control: "$work/socket", plugins: ["$work/prefix/lib/weir/plugins"]}
sources: {lines: {use: stdin.lines, to: apart}}
pools: {apart: {use: sink.null, size: 1, isolation: process}}
END
mkfifo "$work/input"
"$work/prefix/bin/weir" run "$work/apart.yaml" <"$work/input" 2>"$work/log" &
exec 9>"$work/input"
until grep -q 'event="started"' "$work/log"; do sleep 0.05; done
worker=$(pgrep -P $!)
timeout -s KILL 60 gdb -q -batch -ex backtrace -ex "generate-core-file $work/core" -ex detach \
    -p "$worker" >"$work/attached" 2>&1
timeout -s KILL 60 gdb -q -batch -ex backtrace "$work/prefix/bin/weir" "$work/core" \
    >"$work/read" 2>&1
grep -q '^#0 ' "$work/attached" && grep -q '^#0 ' "$work/read" || {
    echo "debugging: gdb reads no stack of a worker in a process of its own"
    cat "$work/attached" "$work/read"
    exit 1
}
exec 9>&-
wait
echo "debugging: gdb reads a worker in a process of its own"
