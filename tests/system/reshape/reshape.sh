#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a running host applies another shape - members, pools, outputs, arguments, restarts - and
#         loses nothing and doubles nothing; a worker that does not open changes nothing, and does
#         not keep the host from ending. Shows promise R1, promise R2, promise R3, promise R5,
#         promise R7, promise O5, promise O6 and promise H1.
# Method: a source counts up, sinks record each number they handle; the recorded numbers are
#         compared with the ledger, to the message. Workers open when a byte comes through a FIFO,
#         so that "not open yet" lasts as long as the test wants. Every wait is for a line of the
#         log.
#
#     reshape.sh WEIR PLUGINS TEST_PLUGINS
set -uo pipefail
weir=$1
plugins=$2
test_plugins=$3
work=$(mktemp -d)
host=
failures=0
generation=0
. "${BASH_SOURCE%/*}/../support/wait.sh" || exit 1
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    cat "$work/log"
    failures=$((failures + 1))
}

# configure [LINE...]: the lines after what all files begin with
configure() {
    {
        printf 'version: 1\n'
        printf 'host: {plugins: ["%s", "%s"], shutdown_timeout: %s}\n' "$plugins" "$test_plugins" \
            "${shutdown_timeout:-30s}"
        printf '%s\n' 'dispatchers: {blocking: {threads: 4, budget: 8}}' "$@"
    } >"$work/new.yaml"
    mv "$work/new.yaml" "$work/weir.yaml"
}

# numbers TO: a source that does not come to its end
numbers() {
    printf 'sources: {numbers: {use: gen.numbers, args: {count: 1000000000000}, to: %s}}' "$1"
}

# pass NAME OUTPUT [ARGS]: workers that pass on what they get; one that failed is not tried again
pass() {
    printf '  %s: {use: slow_open.pass, size: 2, mailbox: 8, dispatcher: blocking, args: {%s},' \
        "$1" "${3:-}"
    printf ' outputs: {out: %s}, restart: {backoff: 10m..10m},' "$2"
    printf ' open_timeout: 1h}'
}

# record NAME [FILE] [SETTING]: workers that write down numbers
record() {
    printf '  %s: {use: sink.record, size: 2, mailbox: 8, dispatcher: blocking,' "$1"
    printf ' args: {path: "%s/out.%s.%%i", spin: 5000}%s}' "$work" "${2:-$1}" "${3:-}"
}

start() {
    rm -f "$work"/out.* "$work/log"
    : >"$work/log"
    "$weir" run "$work/weir.yaml" >"$work/stdout" 2>"$work/log" &
    host=$!
    generation=1
    await 'component=host event="started"'
}

count() { grep -c -e "$1" "$work/log"; }

# Waits for the COUNTth line of the log that matches; fails when the host ends before.
await() {
    local pattern=$1 wanted=${2:-1} began=$SECONDS
    while (($(count "$pattern") < wanted)); do
        if ! kill -0 "$host" 2>/dev/null; then
            (($(count "$pattern") >= wanted)) && return 0
            fail "the host ended before line $wanted of: $pattern"
            exit 1
        fi
        wait_more "$began" "line $wanted of the log: $pattern"
    done
}

# reload [LINE...]: the file becomes these lines, and the host takes it on, while others add up
reload() {
    configure "$@"
    kill -HUP "$host"
    for _ in 1 2 3 4 5 6; do
        kill -USR2 "$host"
    done
    generation=$((generation + 1))
    await "configuration reloaded.* generation=$generation "
}

# reload_refused [LINE...]: the host does not take it on
reload_refused() {
    local before
    before=$(count 'event="configuration refused"')
    configure "$@"
    kill -HUP "$host"
    await "event=\"configuration refused\".* generation=$generation " $((before + 1))
}

finish() {
    wait "$host"
    code=$?
    host=
    [[ $code == "$1" ]] || fail "$2: exit code $code, not $1"
    [[ -z $(ls "$work/copies") ]] || fail "$2: copies of plugins are left behind"
}

stop() {
    kill -TERM "$host"
    finish 75 "$1"
}

field() {
    sed -n "s|.*component=$1 event=\"ledger\".* $2=\\([0-9a-z]*\\).*|\\1|p" "$work/log" |
        tail -n 1
}

dump() {
    local before
    before=$(count 'component=host event="ledger"')
    kill -USR2 "$host"
    await 'component=host event="ledger"' $((before + 1))
}

# Waits until pool $1 has finished more than it had.
await_work() {
    local first began=$SECONDS
    dump
    first=$(field "$1" 'done')
    while [[ $(field "$1" 'done') == "$first" ]]; do
        dump
        wait_more "$began" "work of pool $1"
    done
}

# check_numbers WHAT ENTRY HOPS: every number from 0 on exactly once, as many as the pool ENTRY
# accepted; each was accepted HOPS times in all.
check_numbers() {
    local accepted recorded
    accepted=$(($(field "$2" accepted) - $(field "$2" moved)))
    recorded=$(cat "$work"/out.* | sort -n |
        awk '$1 != NR - 1 { wrong++ } END { print NR, wrong + 0 }')
    [[ $recorded == "$accepted 0" ]] ||
        fail "$1: recorded and wrong numbers are $recorded, the ledger accepted $accepted"
    # A message that a worker hands to a new one is accepted twice.
    [[ $(($(field host accepted) - $(field host moved))) == $((accepted * $3)) ]] ||
        fail "$1: the host counts $(field host accepted), not $3 times $accepted"
    [[ $(field host 'done') == $((accepted * $3)) ]] || fail "$1: not all messages are done"
    [[ $(field host balance) == exact ]] || fail "$1: the ledger does not balance"
}

mkfifo "$work/gate"
mkdir "$work/copies"
export WEIR_PLUGIN_TMP=$work/copies
# Held open for both, so that a byte waits for its worker, and a worker for its byte.
exec {gate}<>"$work/gate"
let_in() { printf y >&"$gate"; }
turn_away() { printf n >&"$gate"; }
# What AddressSanitizer holds back for good measure would be all memory there is.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=16

# --- a member more below a pool that runs, and away with it
nested=("$(numbers top)" 'pools:' '  top:' '    members:' "    $(pass a end)")
configure "${nested[@]}" "$(record end)"
start
for round in 1 2 3; do
    configure "${nested[@]}" "    $(pass b end "gate: $work/gate")" "$(record end)"
    kill -HUP "$host"
    await 'component=top/b.* event="at the gate"' $((2 * round))
    await_work top
    let_in
    let_in
    generation=$((generation + 1))
    await "configuration reloaded.* generation=$generation "
    await_work top/b
    reload "${nested[@]}" "$(record end)"
    await_work top
done
stop "a member added and removed"
check_numbers "a member added and removed" top 2

# --- a member that leads elsewhere: to a pool that came with it
configure "${nested[@]}" "$(record end)"
start
for round in 1 2 3; do
    reload "${nested[@]}" "    $(pass b more)" "$(record end)" "$(record more)"
    await_work more
    reload "${nested[@]}" "$(record end)"
done
stop "a member with a pool of its own"
check_numbers "a member with a pool of its own" top 2

# --- a worker that does not open: nothing has changed; with the cause away it works
simple=("$(numbers first)" 'pools:')
configure "${simple[@]}" "$(pass first end)" "$(record end)"
start
configure "${simple[@]}" "$(pass first end "gate: $work/gate")" "$(record end)" "$(record new)"
kill -HUP "$host"
await 'component=first.* event="at the gate"' 2
await_work end
let_in
turn_away
await 'event="configuration refused".* generation=1 '
count 'pools.first.use: first#[0-9]* failed to open: .* the gate stays shut' >"$work/told"
[[ $(<"$work/told") == 1 ]] || fail "the log does not name the pool that did not open"
await_work end
reload_refused "${simple[@]}" "$(pass first new)" "$(record end)" "$(record new none/new)"
reload_refused "${simple[@]}" "$(pass first end)" "$(record end none/end)"
await_work end
lines_of_new=$(count 'component=new event="ledger"') # it goes after the answer
dump
(($(count 'component=new event="ledger"') == lines_of_new)) ||
    fail "a pool of a refused file is there"
reload "${simple[@]}" "$(pass first new)" "$(record end)" "$(record new)"
await_work new
stop "a worker that did not open"
check_numbers "a worker that did not open" first 2

# --- whatever is asked for while a reload waits is one more reload, of the last file
configure "${simple[@]}" "$(pass first end)" "$(record end)"
start
configure "${simple[@]}" "$(pass first end "gate: $work/gate")" "$(record end)"
kill -HUP "$host"
await 'component=first.* event="at the gate"' 2
for size in 3 4 5 6 7; do
    configure "${simple[@]}" "$(pass first end "gate: $work/gate")" \
        "$(record end | sed "s/size: 2/size: $size/")"
    kill -HUP "$host"
done
await_work end
let_in
let_in
await 'event="configuration reloaded".* generation=3 '
(($(count 'event="pool size" path=pools.end field=size from=2 to=7') == 1)) ||
    fail "the one more reload did not read the last file"
await_work end
stop "reloads asked for while one waits"
check_numbers "reloads asked for while one waits" first 2
(($(count 'event="configuration reloaded"') == 2)) || fail "more than one more reload"

# --- a dispatcher of a refused file leaves again; one that stays gets more threads and fewer; one
# --- that no file names any more goes, when its pool has moved elsewhere
configure 'pools:' "$(record end)"
start
# sideways THREADS FILE: one more dispatcher, and a pool on it
sideways() {
    configure 'pools:' "$(record end)" "$(record side "$2" | sed 's/blocking/side/')"
    sed -i "s/^dispatchers: {/&side: {threads: $1}, /" "$work/weir.yaml"
    kill -HUP "$host"
}
# threads COUNT: waits until so many threads are the dispatcher's
threads() {
    local began=$SECONDS
    while [[ $(cat "/proc/$host/task/"*/comm 2>/dev/null | grep -c '^side-') != "$1" ]]; do
        kill -0 "$host" 2>/dev/null || { fail "the host ended before it had $1 threads"; exit 1; }
        wait_more "$began" "$1 threads of the dispatcher"
    done
}
sideways 3 none/side
await 'event="configuration refused".* generation=1 '
threads 0
sideways 6 side
await 'event="configuration reloaded".* generation=2 '
threads 6
sideways 2 side
await 'event="configuration reloaded".* generation=3 '
threads 2
generation=3
reload 'pools:' "$(record end)" "$(record side)"
threads 0
kill -TERM "$host"
finish 0 "a dispatcher that comes, changes and goes"

# --- other arguments of the source: a new one goes on where the old one has ended
configure "${simple[@]}" "$(pass first end)" "$(record end)"
start
for round in 1 2 3 4; do
    await_work end
    args="key: true, count: 100000000000$round"
    reload "sources: {numbers: {use: gen.numbers, args: {$args}, to: first}}" 'pools:' \
        "$(pass first end)" "$(record end)"
done
await_work end
stop "another source takes over"
check_numbers "another source takes over" first 2
(($(count 'event="source args"') == 5)) || fail "the log does not show the source's arguments"

# --- outputs and the source lead elsewhere, to pools that come and go
configure "${simple[@]}" "$(pass first end)" "$(record end)"
start
for round in 1 2 3 4 5; do
    reload "${simple[@]}" "$(pass first other)" "$(record other)"
    await_work other
    reload "$(numbers second)" 'pools:' "$(pass first other)" "$(pass second end)" \
        "$(record other)" "$(record end)"
    await_work end
    reload "$(numbers first)" 'pools:' "$(pass first end)" "$(record end)"
    await_work end
done
stop "outputs re-bound"
dump_accepted=$((($(field host accepted) - $(field host moved)) / 2))
recorded=$(cat "$work"/out.* | sort -n |
    awk '$1 != NR - 1 { wrong++ } END { print NR, wrong + 0 }')
[[ $recorded == "$dump_accepted 0" ]] ||
    fail "outputs re-bound: recorded and wrong numbers are $recorded of $dump_accepted"
[[ $(field host balance) == exact ]] || fail "outputs re-bound: the ledger does not balance"

# --- other arguments: new workers beside the old ones, which finish their messages
configure "${simple[@]}" "$(pass first end)" "$(record end 1)"
start
for round in 2 3 4 5 6 7 8; do
    reload "${simple[@]}" "$(pass first end)" "$(record end $round)"
    await_work end
done
stop "other arguments"
check_numbers "other arguments" first 2
for round in 1 2 3 4 5 6 7 8; do
    [[ -n $(cat "$work/out.$round".*) ]] || fail "nobody wrote to the path of round $round"
done

# --- other restarts: what the workers were made of stays readable after its file has gone
configure "${simple[@]}" "$(pass first end)" "$(record end end ', restart: {max: 3}')"
start
for most in 4 5 6 7; do
    reload "${simple[@]}" "$(pass first end)" "$(record end end ", restart: {max: $most}")"
    await_work end
done
for size in 4 1 3; do
    reload "${simple[@]}" "$(pass first end)" \
        "$(record end end ", restart: {max: 7}" | sed "s/size: 2/size: $size/")"
    await_work end
done
reload "${simple[@]}" "$(pass first end)" "$(record end last ', restart: {max: 8}')"
await_work end
stop "other restarts"
check_numbers "other restarts" first 2

# --- a worker that keeps for ever: past remove.timeout the rest is dead, and the pool ends; by a
# reload that removes it, and at the end
stuck='  stuck: {use: unruly.keep, size: 1, mailbox: 4, remove: {timeout: 200ms}}'
await_stuck() {
    until [[ $(field stuck queued) == 4 && $(field stuck in_hand) == 1 ]]; do dump; done
}
configure "$(numbers stuck)" 'pools:' "$stuck" "$(record end)"
start
await_stuck
reload "$(numbers end)" 'pools:' "$(record end)"
await_work end
# end_stuck WHEN: what the worker kept, and the four behind it, are dead; nothing else is.
end_stuck() {
    stop "a worker that keeps for ever, $1"
    (($(count 'event="did not end in time"') == 0)) || fail "$1: a pool was left behind"
    [[ $(field host dead) == 5 ]] || fail "$1: $(field host dead) are dead, not 1 kept and 4 behind"
    [[ $(field host balance) == exact ]] || fail "a worker that keeps, $1: the ledger is wrong"
}
end_stuck "by a reload"
# A source that came from another pool could hold more for this one than it has room for.
configure "$(numbers stuck)" 'pools:' "$stuck"
start
await_stuck
end_stuck "at the end"

# --- TERM while a reload waits for a worker that never opens
shutdown_timeout=100ms
configure 'pools:' "$(record end)"
start
configure 'pools:' "$(record end)" "$(pass new end "gate: $work/gate") "
kill -HUP "$host"
await 'component=new.* event="at the gate"' 2
kill -TERM "$host"
finish 75 "TERM while a worker opens"
(($(count 'component=new event="did not end in time".* effect="left behind"') > 0)) ||
    fail "the log does not name the part that was left behind"
(($(count 'component=host event="ended" exit=75') == 1)) || fail "the end was not logged"
(($(count 'event="configuration reloaded"') == 0)) || fail "a reload was logged that was none"

# --- TERM while a reload waits for the end of a pool that it removed, and that never ends
configure 'sources: {numbers: {use: gen.numbers, args: {count: 5}, to: old}}' 'pools:' \
    "$(pass old end "barrier: $work/gate")" "$(record end)"
start
await 'component=old.* event="at the barrier"' 2
configure 'pools:' "$(record end)" "$(record fresh)"
kill -HUP "$host"
until [[ -n $(field fresh accepted) ]]; do dump; done
kill -TERM "$host"
finish 75 "TERM while a pool drains"
(($(count 'component=old event="did not end in time".* effect="left behind"') > 0)) ||
    fail "the log does not name the pool that was left behind"
[[ $(field old in_hand) == 2 ]] || fail "the log does not show the messages in hand"
[[ $(field host balance) == exact ]] || fail "TERM while a pool drains: the ledger is wrong"

# --- and the same with a second signal
shutdown_timeout=10m
configure 'pools:' "$(record end)"
start
configure 'pools:' "$(record end)" "$(pass new end "gate: $work/gate") "
kill -HUP "$host"
await 'component=new.* event="at the gate"' 2
kill -TERM "$host"
await 'event="stopping"'
kill -INT "$host"
finish 75 "INT after TERM while a worker opens"
(($(count 'event="stopped at once"') == 1)) || fail "the second signal was not logged"

((failures == 0)) || exit 1
echo "reshape: all as promised"
