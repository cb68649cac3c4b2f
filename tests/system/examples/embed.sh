#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a C program that embeds Weir packs every file of a folder through pools, holds itself back
#         when they are full, and accounts for every file. Shows promises E3 and E5.
# Method: awkward names and sizes, hundreds of files through mailboxes of four, and files that
#         cannot be packed; gzip unpacks the results, the index is compared with Python's zlib.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"
pack=$work/build/$name/pack

# compare FROM TO: each packed file, and the index, against tools of others.
compare() {
    python3 - "$1" "$2" <<'PYTHON' || fail "the index of $2 is not right"
import os, subprocess, sys, zlib
source, packed = map(os.fsencode, sys.argv[1:])
lines = []
for name in sorted(os.listdir(source)):
    path = os.path.join(source, name)
    if not os.path.isfile(path) or os.path.islink(path):
        continue
    with open(path, "rb") as file:
        data = file.read()
    whole = os.path.join(packed, name + b".gz")
    unpacked = subprocess.run([b"gzip", b"-dc", whole], capture_output=True, check=True).stdout
    if unpacked != data:
        sys.exit(f"{name}: gzip unpacks something else")
    escaped = name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n")
    size = os.path.getsize(whole)
    lines.append(b"%08x %d %d %s\n" % (zlib.crc32(data), len(data), size, escaped))
with open(os.path.join(packed, b"index"), "rb") as file:
    found = file.readlines()
if found != lines:
    sys.exit(f"index: {set(found) - set(lines)} for {set(lines) - set(found)}")
PYTHON
    [[ -z $(find "$2" -name '*.part') ]] || fail "parts were left in $2"
}

# --- awkward files

mkdir from to from/folder
: >from/empty
printf x >from/one
head -c 3000000 /dev/urandom >from/random
head -c 20000000 /dev/zero >from/zero
seq 300000 >$'from/a name\nof two lines'
printf 'y' >'from/back\slash'
printf 'z' >from/-dash
ln -s /etc/passwd from/link
try "$pack" from to
grep -qx '7 files, 7 packed, 0 failed' "$work/log" || fail "$(cat "$work/log")"
compare from to

# --- many more than there is room for, with one thread and with four; over what was there before

mkdir many packed
for ((i = 0; i < 300; i++)); do
    printf '%s\n' "$i" "$RANDOM" >"many/file $i"
done
for threads in 1 4; do
    try "$pack" many packed $threads
    grep -qx '300 files, 300 packed, 0 failed' "$work/log" || fail "$(cat "$work/log")"
    compare many packed
done

# --- what cannot be packed is named, and the rest is done

mkdir bad partly
for i in 1 2 3 4 5 6; do
    echo $i >bad/$i
done
mkdir partly/3.gz.part partly/5.gz.part
code=0
"$pack" bad partly >"$work/log" 2>&1 || code=$?
[[ $code == 1 ]] || fail "exit code $code: $(cat "$work/log")"
grep -qx '6 files, 4 packed, 2 failed' "$work/log" || fail "$(cat "$work/log")"
for i in 3 5; do
    grep -q "cannot pack file=$i reason=Is a directory" "$work/log" || fail "$(cat "$work/log")"
done
rmdir partly/*.part
rm bad/3 bad/5
compare bad partly

# --- wrong arguments, folders that are not there

for arguments in "" "from" "from to 0" "from to 4x" "from to 1 2"; do
    code=0
    # shellcheck disable=SC2086
    "$pack" $arguments >"$work/log" 2>&1 || code=$?
    [[ $code == 64 ]] || fail "pack $arguments: exit code $code"
done
code=0
"$pack" nowhere to >"$work/log" 2>&1 || code=$?
[[ $code == 1 ]] || fail "nowhere: exit code $code"
grep -q 'nowhere: No such file' "$work/log" || fail "nowhere: $(cat "$work/log")"

# --- by pkg-config, from a prefix that was moved

if command -v pkg-config >/dev/null; then
    mv "$work/prefix" "$work/moved"
    PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name weir.pc)")
    export PKG_CONFIG_PATH
    read -ra flags <<<"$(pkg-config --cflags --libs weir) ${CFLAGS:-}"
    "$compiler" -std=c11 -D_GNU_SOURCE -o by_pkg_config "$name"/*.c "${flags[@]}" -lz \
        >"$work/log" 2>&1 || fail "by pkg-config: $(cat "$work/log")"
    mkdir again
    LD_LIBRARY_PATH=$(dirname "$(find "$work/moved" -name libweir.so.0)") \
        try ./by_pkg_config from again
    compare from again
fi
