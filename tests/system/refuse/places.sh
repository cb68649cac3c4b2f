#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   mistakes that only a running host can find are reported as mistakes of the file, with
#         file, line, column, path and reason: a socket that cannot be made, a worker, a manager or
#         a source that does not open, with what the plugin said. By `weir run` too.
#         Shows promises R8 and C34.
# Method: one host; each row changes its file so that the reload must be refused, and compares what
#         `weir reload` prints, whole lines, with what is expected.
#
#     places.sh WEIR PLUGINS FAULTY
set -uo pipefail
weir=$1
plugins=$2
faulty=$3
work=$(mktemp -d)
host=
failures=0
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT
mkfifo "$work/pipe"
file=$work/weir.yaml
export WEIR_CONTROL=$work/control

fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}

# Reads the lines of a file from stdin.
write() {
    cat >"$work/new"
    mv "$work/new" "$file"
}

good() {
    write <<END
version: 1
host:
  plugins: ["$plugins", "$faulty"]
  control: $work/control
  memory: 1GiB
sources:
  numbers: {use: gen.forever, to: work}
pools:
  work: {use: sink.null, size: 1}
END
}

# expect WHAT LINE...: a reload prints these lines and no others, and is refused
expect() {
    local what=$1
    shift
    printf '%s\n' "$@" | sort >"$work/expected"
    "$weir" reload >"$work/answer" 2>&1
    [[ $? == 78 ]] || fail "$what: exit code"
    grep "^$file" "$work/answer" | sort | diff - "$work/expected" ||
        fail "$what: the lines differ (found, expected)"
}

good
"$weir" run "$file" >"$work/stdout" 2>"$work/log" &
host=$!
until grep -q 'component=host event="started"' "$work/log"; do
    kill -0 "$host" 2>/dev/null || { cat "$work/log"; exit 1; }
    read -r -t 0.01 <>"$work/pipe"
done

# --- a socket at which it cannot listen
good
sed -i "s|^  control: .*|  control: $work/none/control|" "$file"
expect "control" \
    "$file:4:12: host.control: cannot listen at $work/none/control: No such file or directory"
touch "$work/plain"
good
sed -i "s|^  control: .*|  control: $work/plain|" "$file"
expect "no socket" \
    "$file:4:12: host.control: cannot listen at $work/plain: there is a file that is no socket"

# --- workers, one of them in a copy of a template, and a manager
good
cat >>"$file" <<END
  record: {use: sink.record, size: 1, args: {path: $work/none/record}}
  shards:
    size: 2
    pool:
      size: 1
      use: sink.record
      args: {path: $work/none/shard}
  managed: {use: sink.null, size: 1, manager: unruly.open}
x-reached: [record, shards]
END
said='failed to open: an argument is not valid: record: No such file or directory'
expect "workers that do not open" \
    "$file:10:17: pools.record.use: record#0 $said" \
    "$file:15:12: pools.shards.pool.use: shards/0#0 $said" \
    "$file:15:12: pools.shards.pool.use: shards/1#0 $said" \
    "$file:17:47: pools.managed.manager: unruly.open $(
        )failed to open: an argument is not valid: the camera is not there"

# --- a pool that changes
good
sed -i "s|use: sink.null|use: sink.record, args: {path: $work/none/work}|" "$file"
expect "a changed pool" "$file:9:15: pools.work.use: work#1 $said"

# --- a source
good
sed -i "s|gen.forever|unruly.lines, args: {path: $work/none}|" "$file"
expect "a source" "$file:7:18: sources.numbers.use: numbers failed to open: $(
    )an argument is not valid: cannot be opened"

# --- it has served all the time; its last file is the first one
good
"$weir" reload >"$work/answer" 2>&1 || fail "the good file is refused"
grep -q 'nothing to do' "$work/answer" || fail "not as before: $(cat "$work/answer")"
kill -TERM "$host"
wait "$host"
host=

# --- the same words at the start
write <<END
version: 1
host: {plugins: ["$plugins"]}
pools:
  work:
    use: sink.record
    size: 1
    args: {path: $work/none/work}
END
"$weir" run "$file" 2>"$work/log"
[[ $? == 69 ]] || fail "a worker that does not open at the start: exit code"
grep -qxF "$file:5:10: pools.work.use: work#0 $said" "$work/log" ||
    fail "a worker that does not open at the start: $(cat "$work/log")"

((failures == 0)) || exit 1
echo "places: all as promised"
