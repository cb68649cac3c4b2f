#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: `weir check`, `plan`, `describe`, `version` and help, as a shell sees them: exit codes, the
# stream, colour only on a terminal, plain words for output that cannot be written.
# Method: the real program on files in a private directory. Usage: cli.sh WEIR PLUGINS
set -u

weir=$1
plugins=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect CODE ARGUMENT...: the exit code; leaves the streams in $work/out and $work/err.
expect() {
    local wanted=$1 code
    shift
    "$weir" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ "$code" -eq "$wanted" ] || fail "weir $*: exit $code, wanted $wanted"
}

# says out|err TEXT: the stream holds the text.
says() {
    grep -qF -e "$2" "$work/$1" || fail "std$1 lacks: $2 (has: $(head -c 300 "$work/$1"))"
}

silent() {
    [ ! -s "$work/$1" ] || fail "std$1 should be empty: $(head -c 300 "$work/$1")"
}

cat >"$work/good.yaml" <<YAML
version: 1
host: {plugins: [$plugins]}
sources:
  names: {use: sample.list, args: {paths: [a]}, to: work}
pools:
  work: {use: sample.pass, size: 2, outputs: {out: end}}
  end: {use: sample.bare, size: 1}
YAML
sed 's/size: 2/size: 8/' "$work/good.yaml" >"$work/more.yaml"
sed 's/size: 2/size: -2/; s/sample.bare/sample.bear/' "$work/good.yaml" >"$work/bad.yaml"

expect 0 --help
says out 'usage: weir COMMAND'
silent err
expect 64
silent out
expect 64 chekc
says err 'did you mean "check"?'
expect 0 --version
says out 'SDK 1.1'

# Each exit code in the help of a command is in the manual page.
manual=$(dirname "$0")/../../../docs/man/weir.1
for command in run check plan reload status inspect scale restart pause resume dead queue \
    describe schema new; do
    expect 0 "$command" --help
    sed -n '/^Exit code/,$p' "$work/out" | grep -owE '6[4-9]|7[0-8]' | sort -u >"$work/codes"
    while read -r code; do
        grep -qx ".B $code" "$manual" || fail "weir(1) lacks the exit code $code of $command"
    done <"$work/codes"
done

expect 0 check "$work/good.yaml"
says out 'good.yaml: ok (2 pools, 1 source, 3 workers)'
silent err
expect 78 check "$work/bad.yaml"
silent out
says err 'bad.yaml:6:34: pools.work.size: '
says err 'bad.yaml:7:14: pools.end.use: '
expect 66 check "$work/nowhere.yaml"
says err 'nowhere.yaml'
expect 78 check "$work/good.yaml" "$work/bad.yaml"
says out 'good.yaml: ok'
expect 64 check
expect 64 check --no-such-option "$work/good.yaml"

expect 0 check --plugin "$plugins/sample.so"
expect 78 check --plugin "$plugins/too_new.so"
says err 'is built for SDK 1.7, this host speaks 1.1'
expect 66 check --plugin "$work/nowhere.so"
printf 'text' >"$work/text.so"
expect 78 check --plugin "$work/text.so"
says err 'is no shared object'

expect 0 plan "$work/more.yaml" --from "$work/good.yaml"
says out 'pools.work.size: 2 -> 8'
grep -q $'\033' "$work/out" && fail 'colour without a terminal'
expect 0 plan "$work/good.yaml" --from "$work/good.yaml"
says out 'nothing to do'
expect 78 plan "$work/good.yaml"
expect 78 plan "$work/bad.yaml" --from "$work/good.yaml"

expect 0 describe --plugins "$plugins" sample
says out 'sample.pass (worker)'
expect 66 describe --plugins "$plugins" smaple
says err 'did you mean "sample"?'
WEIR_PLUGIN_PATH=$plugins expect 0 describe sample.list

# Nothing of the copies of plugins stays behind.
mkdir "$work/copies"
WEIR_PLUGIN_TMP=$work/copies expect 0 check "$work/good.yaml"
[ -z "$(ls -A "$work/copies")" ] || fail 'copies of plugins were left behind'
WEIR_PLUGIN_TMP=$work/copies/none expect 78 check "$work/good.yaml"
says err 'WEIR_PLUGIN_TMP'

"$weir" --help >/dev/full 2>"$work/err"
code=$?
[ "$code" -eq 74 ] || fail "full disk: exit $code, wanted 74"
says err 'could not be written'

[ "$failures" -eq 0 ] && echo 'all as expected'
exit "$((failures > 0))"
