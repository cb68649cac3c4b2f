#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   whatever becomes of its file - each file of tests/config/bad, nothing, a FIFO, half of it:
#         a running host refuses it, says why, and serves on with what it has; of many changes that
#         are asked for at once the last one wins. Shows promise R2 and promise R5.
# Method: a source counts up through one pool; after every few refusals the ledger must show work
#         that was done since. Every wait is for a line of the log.
#
#     refuse.sh WEIR PLUGINS BAD
set -uo pipefail
weir=$1
plugins=$2
bad=$3
work=$(mktemp -d)
host=
failures=0
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT
mkfifo "$work/pipe"
mkdir "$work/etc"
file=$work/etc/weir.yaml

fail() {
    printf 'FAILED: %s\n' "$*"
    tail -n 20 "$work/log"
    failures=$((failures + 1))
}

# good [MAILBOX] [HOST]: the text of a file that is right
good() {
    printf 'version: 1\nhost: {plugins: ["%s"], control: %s%s}\n' \
        "$plugins" "$work/control" "${2:-}"
    printf 'sources: {numbers: {use: gen.forever, to: work}}\n'
    printf 'pools: {work: {use: sink.record, size: 1, mailbox: %s, %s}}\n' \
        "${1:-8}" 'args: {path: /dev/null}'
}

count() { grep -c -e "$1" "$work/log"; }

# Waits for the COUNTth line of the log that matches; fails when the host ends before.
await() {
    while (($(count "$1") < ${2:-1})); do
        kill -0 "$host" 2>/dev/null || { fail "the host ended before: $1"; exit 1; }
        read -r -t 0.01 <>"$work/pipe"
    done
}

start() {
    : >"$work/log"
    "$weir" run "$file" >"$work/stdout" 2>"$work/log" &
    host=$!
    refused=0
    await 'component=host event="started"'
}

stop() {
    kill -TERM "$host"
    wait "$host"
    host=
}

handled() {
    local before
    before=$(count 'component=work event="ledger"')
    kill -USR2 "$host"
    await 'component=work event="ledger"' $((before + 1))
    sed -n 's|.*component=work event="ledger".* done=\([0-9]*\).*|\1|p' "$work/log" | tail -n 1
}

# refused WHAT: the host refuses the file, and goes on
refused() {
    local before
    kill -HUP "$host"
    refused=$((refused + 1))
    await 'event="configuration refused".* generation=1 ' "$refused"
    ((refused % 12 == 0)) || return 0
    before=$(handled)
    while (($(handled) == before)); do
        kill -0 "$host" 2>/dev/null || { fail "$1: the host ended"; exit 1; }
    done
    [[ $(count 'event="configuration reloaded"') == 0 ]] || fail "$1: was applied"
}

# --- every bad file, but those that are wrong by other plugins than ours
good >"$file"
start
rows=0
for other in "$bad"/*.yaml; do
    ! "$weir" check "$other" >/dev/null 2>&1 || continue
    cp "$other" "$work/etc/new" && mv "$work/etc/new" "$file"
    refused "${other##*/}"
    rows=$((rows + 1))
done
((rows >= 120)) || fail "only $rows bad files"

# --- no file, or half a file
rm "$file"
refused "no file"
mkfifo "$file"
refused "a FIFO"
rm "$file"
mkdir "$file"
refused "a directory"
rmdir "$file"
: >"$file"
refused "an empty file"
good | head -c 90 >"$file"
refused "half a file"
ln -sfn nowhere "$file"
refused "a link to nothing"

# --- a link that is flipped; then many requests: the last file wins
rm "$file"
good 9 >"$work/etc/one"
ln -s one "$file"
kill -HUP "$host"
await 'event="configuration reloaded".* generation=2 '
for mailbox in 10 11 12 13 14 15 16; do
    good "$mailbox" >"$work/etc/$mailbox"
    ln -s "$mailbox" "$work/etc/link" && mv -T "$work/etc/link" "$file"
    kill -HUP "$host"
done
await 'field=mailbox from=[0-9]* to=16'

# --- a signal to end during a reload
good 20 >"$work/etc/new" && mv "$work/etc/new" "$file"
kill -HUP "$host"
stop

((failures == 0)) || exit 1
printf 'refuse: %s bad files, all as promised\n' "$rows"
