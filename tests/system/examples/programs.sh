#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   the page on embedding shows complete programs: what a reader copies from it builds with
#         its CMakeLists.txt and with its line for pkg-config, and runs. A language that compiles
#         no header calls the inline functions of the library. Shows promises E2 and E15.
# Method: the blocks of docs/guide/embedding.md are written into an empty folder, and built there.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"
page=$source/docs/guide/embedding.md

# Each program of the page, the CMakeLists.txt, and in `line` the command for pkg-config.
mkdir page
python3 - "$page" page <<'PYTHON' || fail "the page lacks a program"
import pathlib, re, sys
text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
folder = pathlib.Path(sys.argv[2])
blocks = re.findall(r"<!-- from examples/programs/(\S+) -->\n```\w+\n(.*?)```", text, re.S)
for name, block in blocks:
    (folder / name).write_text(block, encoding="utf-8")
line = re.search(r"^    (cc .*pkg-config.*)$", text, re.M)[1]
(folder / "line").write_text(line, encoding="utf-8")
wanted = {"CMakeLists.txt", "task.c", "group.c", "lease.c", "loop.c", "plugin.c", "twice.c"}
sys.exit(wanted != {name for name, _ in blocks} and f"{wanted} wanted, {blocks} found")
PYTHON

# expect FOLDER: the programs print what they should.
expect() {
    [[ $("$1/task") == '3 vowels' ]] || fail "task"
    [[ $("$1/group") == '1000 done, 0 failed, sum 332833500' ]] || fail "group"
    [[ $("$1/lease") == $'request 1\nrequest 2' ]] || fail "lease"
    [[ $("$1/loop") == '990 answers, 10 rejected, sum 329983500' ]] || fail "loop"
    [[ $("$1/plugin" page/build/plugins/twice.so answer) == 42 ]] || fail "plugin"
}

try "$cmake" -G "$generator" -S page -B page/build -D CMAKE_C_COMPILER="$compiler" \
    -D CMAKE_PREFIX_PATH="$work/prefix"
try "$cmake" --build page/build
expect page/build

if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name weir.pc)")
    LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name libweir.so.0)")
    export PKG_CONFIG_PATH LD_LIBRARY_PATH
    cd page
    for program in task group lease loop plugin; do
        line=$(<line)
        try bash -c "${line//task/$program} ${CFLAGS:-}"
    done
    cd ..
    expect page
fi

# A sanitizer has to be in the program, and Python has none.
if [[ ${CFLAGS:-} != *sanitize* ]]; then
    version=$("$weir" version | awk 'NR == 1 { print $2 }')
    python3 "$name/inline.py" "$(find "$work/prefix" -name libweir.so.0)" >printed ||
        fail "inline.py: $(<printed)"
    [[ $(<printed) == "libweir $version"$'\n''status -1 is FULL' ]] ||
        fail "inline.py printed: $(<printed)"
fi
