#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a host whose standard output cannot be written says so and ends with 74; one whose streams
#         are closed from the start works, and none of its output gets into other files. Promise H7.
# Method: a host that prints one line, with its streams laid elsewhere.
#
#     streams.sh WEIR PLUGINS
set -uo pipefail
weir=$1
plugins=$2
work=$(mktemp -d)
host=
trap '[[ -z $host ]] || kill -KILL $host 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}

mkdir lists
printf '%s  etc/hosts-of-nobody\n' 0123456789abcdef0123456789abcdef >lists/one.md5sums
cat >print.yaml <<END
version: 1
host: {plugins: ["$plugins"], log: {format: json}}
sources:
  lines: {use: files.lines, args: {paths: ["$work/lists/*"]}, to: verify}
pools:
  verify: {use: integrity.md5, size: 1, outputs: {missing: report}}
  report: {use: report.results, size: 1}
END
sed '/report:/d; s/, outputs: .*/}/; s/integrity.md5/sink.null/' print.yaml >silent.yaml
"$weir" check print.yaml silent.yaml || fail "the files of the test are wrong"

# ends WHAT CODE: what the last command ended with
ends() {
    local code=$?
    ((code == $2)) || fail "$1: exit code $code, not $2: $(cat log)"
}

# reports WHAT REASON: why nothing could be printed, once, and that something was lost
reports() {
    [[ $(grep -c "\"standard output cannot be written\".*\"reason\":\"$2\"" log) == 1 ]] ||
        fail "$1: the log does not say $2 once: $(cat log)"
    grep -q '"printed text was lost"' log || fail "$1: the log does not say what was lost"
}

"$weir" run print.yaml >out 2>log
ends 'a file' 1
grep -q '^checked 1 file,' out || fail "nothing was printed: $(cat out)"

"$weir" run print.yaml >/dev/full 2>log
ends 'a full disk' 74
reports 'a full disk' 'No space left on device'

mkfifo pipe
exec 3<>pipe 4>pipe 3>&- # the reader has left
"$weir" run print.yaml 2>log >&4
ends 'no reader' 74
reports 'no reader' 'Broken pipe'
exec 4>&-

"$weir" run print.yaml 2>log >&-
ends 'closed output' 74
reports 'closed output' 'Bad file descriptor'

"$weir" run silent.yaml 2>log >&-
ends 'closed output, and nothing to print' 0

"$weir" run print.yaml >out <&- 2>&-
ends 'closed input and error' 1
[[ $(grep -c . out) == 2 ]] || fail "something else was printed: $(cat out)"

"$weir" run silent.yaml <&- >&- 2>&-
ends 'all closed' 0

# Nothing of a host at work lies there.
printf 'host: {control: "%s"}\n' "$work/control" >idle.yaml
"$weir" run idle.yaml <&- >&- 2>&- &
host=$!
until "$weir" status --file idle.yaml >/dev/null 2>&1; do
    kill -0 $host 2>/dev/null || { fail 'a host with closed streams has ended'; break; }
done
for descriptor in 0 1 2; do
    [[ $(readlink /proc/$host/fd/$descriptor) == /dev/null ]] ||
        fail "descriptor $descriptor is $(readlink /proc/$host/fd/$descriptor)"
done
kill -TERM $host
wait $host
ends 'stopped' 0
host=

((failures == 0)) && echo 'all as expected'
exit $((failures > 0))
