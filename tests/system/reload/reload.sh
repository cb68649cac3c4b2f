#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a running host applies a changed file at SIGHUP, loses nothing and doubles nothing, keeps
#         what it has when the file is wrong, and ends as its signals say. Shows promise R1, promise
#         R2, promise R3, promise R4, promise R5, promise C5, promise H1, promise H2, promise O3,
#         promise O5, promise P6, promise L1, promise L2 and promise H6.
# Method: a source counts up, workers record each number they handle; the recorded numbers are
#         compared with the ledger, to the message. Every wait is for a line of the log.
#
#     reload.sh WEIR PLUGINS
set -uo pipefail
weir=$1
plugins=$2
work=$(mktemp -d)
host=
failures=0
. "${BASH_SOURCE%/*}/../support/wait.sh" || exit 1
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}

# configure SIZE MAILBOX COUNT SPIN [LINE...]
configure() {
    local size=$1 mailbox=$2 count=$3 spin=$4
    shift 4
    {
        printf 'version: 1\nhost: {plugins: ["%s"]}\n' "$plugins"
        printf 'dispatchers: {blocking: {threads: 4, budget: 8}}\n'
        printf 'sources: {numbers: {use: gen.numbers, args: {count: %s}, to: work}}\n' "$count"
        printf 'pools:\n  work: {use: sink.record, size: %s, mailbox: %s, dispatcher: blocking,\n' \
            "$size" "$mailbox"
        printf '    args: {path: "%s/out.%%i", spin: %s}}\n' "$work" "$spin"
        printf '%s\n' "$@"
    } >"$work/new.yaml"
    mv "$work/new.yaml" "$work/weir.yaml"
}

start() {
    rm -f "$work"/out.* "$work/log"
    : >"$work/log"
    "$weir" run "$work/weir.yaml" >"$work/stdout" 2>"$work/log" &
    host=$!
}

# Waits for the COUNTth line of the log that matches; fails when the host ends before.
await() {
    local pattern=$1 count=${2:-1} began=$SECONDS
    while (($(grep -c -e "$pattern" "$work/log") < count)); do
        if ! kill -0 "$host" 2>/dev/null; then
            (($(grep -c -e "$pattern" "$work/log") >= count)) && return 0
            fail "the host ended before line $count of: $pattern"
            cat "$work/log"
            exit 1
        fi
        wait_more "$began" "line $count of the log: $pattern"
    done
}

finish() {
    wait "$host"
    code=$?
    host=
    [[ $code == "$1" ]] || fail "$2: exit code $code, not $1"
}

field() {
    sed -n "s/.*component=$1 event=\"ledger\".* $2=\\([0-9a-z]*\\).*/\\1/p" "$work/log" |
        tail -n 1
}

# Every number from 0 on exactly once, as many as the ledger accepted. A worker that joins the pool
# accepts the moved messages once more.
check_numbers() {
    local accepted numbers
    accepted=$(($(field work accepted) - $(field work moved)))
    numbers=$(cat "$work"/out.* | sort -n |
        awk '$1 != NR - 1 { wrong++ } END { print NR, wrong + 0 }')
    [[ $numbers == "$accepted 0" ]] ||
        fail "$1: recorded and wrong numbers are $numbers, the ledger accepted $accepted"
    [[ $(field host balance) == exact ]] || fail "$1: the ledger does not balance"
}

# What AddressSanitizer holds back would look like growth.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1
resident_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$host/status"; }

# --- sizes and limits, to and fro, while it works
configure 2 64 1000000000000 20000
start
await 'component=host event="started"'
generation=1
for round in 1 2 3 4 5 6 7 8 9 10; do
    for shape in '8 16' '2 64' '3 1' '2 64'; do
        # shellcheck disable=SC2086
        configure $shape 1000000000000 20000
        kill -HUP "$host"
        generation=$((generation + 1))
        await "configuration reloaded.* generation=$generation "
    done
    [[ $round != 2 ]] || early=$(resident_kib)
done
late=$(resident_kib)
# Its own allocator holds back more the more runs at once, whatever the quarantine.
growth_max=16384
! grep -q __asan_init "$weir" || growth_max=131072
((late - early < growth_max)) || fail "memory grew from $early to $late KiB over 32 reloads"
grep -q 'event="pool size" path=pools.work field=size from=2 to=8' "$work/log" ||
    fail "the log does not show the step from 2 to 8"

# --- a broken file changes nothing and says where
configure 8 64 1000000000000 20000 'pools2: {}' 'extra: ['
kill -HUP "$host"
await 'configuration refused'
grep -q "$work/weir.yaml:[0-9]*:[0-9]*: " "$work/log" || fail "no file:line:col for a broken file"
configure 0x10 64 1000000000000 20000
kill -HUP "$host"
await 'configuration refused' 2
grep -q "weir.yaml:6:[0-9]*: pools.work.size: " "$work/log" || fail "no path for a wrong size"
"$weir" check "$work/weir.yaml" 2>"$work/check"
[[ $? == 78 ]] || fail "check does not refuse what a reload refuses"
while IFS= read -r line; do
    grep -qF -e "${line//\"/\\\"}" "$work/log" || fail "check says what the reload does not: $line"
done <"$work/check"
kill -USR2 "$host"
await 'component=work event="ledger"'
first=$(field work done)
began=$SECONDS
kill -USR2 "$host"
await 'component=work event="ledger"' 2
while [[ $(field work done) == "$first" ]]; do
    kill -USR2 "$host"
    wait_more "$began" "work after a broken file"
done

# --- the same content is nothing to do; other formatting neither
configure 2 64 1000000000000 20000 '# a comment'
kill -HUP "$host"
await 'nothing to do'

# --- a pool's own log level: its lines go, and come back
log_ledger() {
    kill -USR2 "$host"
    await 'component=host event="ledger"' "$1"
    grep -c 'component=work event="ledger"' "$work/log"
}
ledgers=$(grep -c 'component=host event="ledger"' "$work/log")
configure 2 64 1000000000000 20000 '  quiet: {use: sink.null, size: 0}'
sed -i 's/work: {/work: {log: {level: error}, /' "$work/weir.yaml"
kill -HUP "$host"
await 'path=pools.work field=log.level from=host to=error'
await 'event="pool added" path=pools.quiet'
await 'component=reload event="configuration reloaded"' "$generation"
before=$(grep -c 'component=work event="ledger"' "$work/log")
[[ $(log_ledger $((ledgers + 1))) == "$before" ]] || fail "a quiet pool logs information"
configure 2 64 1000000000000 20000
kill -HUP "$host"
await 'path=pools.work field=log.level from=error to=host'
await 'event="pool removed" path=pools.quiet'
await 'component=reload event="configuration reloaded"' $((generation + 1))
[[ $(log_ledger $((ledgers + 2))) -gt "$before" ]] || fail "the pool's lines do not come back"

# --- a storm: the last content wins
for size in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    configure "$size" 64 1000000000000 20000
    kill -HUP "$host"
done
await 'field=size from=[0-9]* to=20'

# --- counters never go back
kill -USR2 "$host"
await 'component=work event="ledger"' 3
awk '/component=work event="ledger"/ {
    match($0, / accepted=[0-9]+/)
    accepted = substr($0, RSTART + 10, RLENGTH - 10) + 0
    if (accepted < last) exit 1
    last = accepted
}' "$work/log" || fail "the counters of the pool went back"

# --- the end: what was accepted is finished; the source was not done
kill -TERM "$host"
finish 75 "TERM before the end"
check_numbers "reloads"

# --- a source that ends: the host ends by itself
configure 3 8 20000 0
start
finish 0 "a finished source"
check_numbers "to the end"
# A worker accepts once more what an idle one takes over from a busy one.
(($(field work accepted) - $(field work moved) == 20000)) || fail "not all numbers were accepted"

# --- HUP in the first moment of main, long before anything runs: it is kept
configure 2 64 1000000000000 20000
start
until (($(awk '/^SigBlk/ { print "0x" $2 }' "/proc/$host/status") & 1)); do
    kill -0 "$host" || break
done
kill -HUP "$host"
await 'component=host event="started"'
await 'component=reload event="nothing to do"'
kill -INT "$host"
finish 75 "INT before the end"
check_numbers "HUP at once"

# --- a second signal ends at once, also when workers are slow
configure 2 64 1000000000000 4000000000
start
await 'component=host event="started"'
kill -TERM "$host"
await 'event="stopping"'
kill -INT "$host"
finish 75 "INT after TERM"
grep -q 'event="stopped at once"' "$work/log" || fail "the second signal was not logged"

# --- a wrong file at the start
printf 'version: 1\npools: {work: {use: sink.record, sizes: 2}}\n' >"$work/weir.yaml"
start
finish 78 "a wrong file"
grep -q 'did you mean "size"?' "$work/log" || fail "no near name for sizes"

# --- what the language allows and no host could run is refused with its place, all at once
{
    cat <<END
version: 1
host:
  plugins: ["$plugins"]
  control: $(printf '/%0107d' 0)
pools:
  first: {use: sink.null, subscribe: [""]}
dispatchers:
  supervisor: {}
END
    for number in {1..63}; do
        printf '  d%s: {threads: 1}\n' "$number"
    done
} >"$work/weir.yaml"
"$weir" check "$work/weir.yaml" 2>"$work/check"
[[ $? == 78 ]] || fail "check accepts what run refuses"
cat >"$work/expected" <<END
$work/weir.yaml:4:12: host.control: the path of a socket has at most 107 bytes, got 108
$work/weir.yaml:8:3: dispatchers.supervisor: is the name of the host's own dispatcher
$work/weir.yaml:70:3: dispatchers.d62: is one of 65 dispatchers, there may be 63
$work/weir.yaml:6:38: pools.first.subscribe: the name of an event has 1 to 127 bytes, got 0
END
diff "$work/check" "$work/expected" || fail "not each refusal once with its place"

((failures == 0)) || {
    cat "$work/log"
    exit 1
}
echo "reload: all as promised"
