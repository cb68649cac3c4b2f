#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   whatever stands under the file's name - nothing, a link to nothing or to itself, a
#         directory, a FIFO, a device, a socket, what may not be read, too much - check, run and a
#         reload say the same of it, at once and with the exit code of its kind, and a running host
#         goes on. Shows promise C10.
# Method: one host, whose file becomes each of these in turn; the three answers are compared.
#
#     unreadable.sh WEIR PLUGINS
set -uo pipefail
weir=$1
plugins=$2
work=$(mktemp -d)
host=
failures=0
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT
mkfifo "$work/pipe"
file=$work/weir.yaml
export WEIR_CONTROL=$work/control
rows=0

fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}

good() {
    rm -rf "$file"
    printf 'version: 1\nhost: {plugins: ["%s"], control: %s}\n' "$plugins" "$work/control" >"$file"
    printf 'pools: {work: {use: sink.null, size: 1}}\n' >>"$file"
}

# says WHAT CODE WORDS...: of the file as it is now
says() {
    local what=$1 code=$2 found
    shift 2
    rows=$((rows + 1))
    found=$("$weir" check "$file" 2>&1)
    [[ $? == "$code" ]] || fail "$what: check's exit code is not $code"
    [[ $found == "$file: $*" ]] || fail "$what: check says: $found"
    found=$("$weir" run "$file" 2>&1)
    [[ $? == "$code" ]] || fail "$what: run's exit code is not $code"
    [[ $found == "$file: $*" ]] || fail "$what: run says: $found"
    found=$("$weir" reload 2>&1)
    [[ $? != 0 ]] || fail "$what: the reload is not refused"
    [[ $found == *"$file: $*"* ]] || fail "$what: the reload says: $found"
}

good
: >"$work/log"
"$weir" run "$file" >"$work/stdout" 2>"$work/log" &
host=$!
until grep -q 'component=host event="started"' "$work/log"; do
    kill -0 "$host" 2>/dev/null || { cat "$work/log"; exit 1; }
    read -r -t 0.01 <>"$work/pipe"
done

rm "$file"
says "nothing" 66 "cannot be opened: No such file or directory"
ln -s nowhere "$file"
says "a link to nothing" 66 "cannot be opened: No such file or directory"
ln -sfn weir.yaml "$file"
says "a link to itself" 66 "cannot be opened: Too many levels of symbolic links"
rm "$file" && mkdir "$file"
says "a directory" 78 "is a directory"
rmdir "$file" && mkfifo "$file"
says "a FIFO" 78 "is not a regular file"
ln -sfn /dev/zero "$file"
says "a device" 78 "is not a regular file"
ln -sfn "$work/control" "$file"
says "a socket" 66 "cannot be opened: No such device or address"
rm "$file" && truncate -s 8388609 "$file"
says "too much" 78 "is larger than 8MiB"

# What may not be read: root may read everything, so somebody else asks. A host of root's reads it.
good
chmod 000 "$file"
asks=("$weir")
((EUID != 0)) || asks=(setpriv --reuid=65534 --regid=65534 --clear-groups "$weir")
chmod 755 "$work"
for command in check run; do
    found=$("${asks[@]}" "$command" "$file" 2>&1)
    [[ $? == 66 ]] || fail "unreadable: $command's exit code is not 66"
    [[ $found == "$file: cannot be opened: Permission denied" ]] ||
        fail "unreadable: $command says: $found"
    rows=$((rows + 1))
done

good
found=$("$weir" reload 2>&1) || fail "the good file is refused: $found"
grep -q 'nothing to do' <<<"$found" || fail "not as before: $found"
kill -TERM "$host"
wait "$host"
host=

((failures == 0)) || exit 1
echo "unreadable: $rows kinds, all as promised"
