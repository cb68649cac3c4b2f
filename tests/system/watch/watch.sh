#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   with `host.watch` a running host applies its changed files by itself, in whatever way
#         they were changed and whichever of them it was, once for each change; without it never.
#         Shows promise R9.
# Method: each row changes the mailbox of a pool to a new number, in the way of some tool, and waits
#         for the log to show that number. At the end there must have been as many reloads as
#         rows. Between changes of one step each, which no load can make two of, what the watch saw
#         is counted exactly. Then `weir run --watch`, which also sees a plugin that was built
#         again: another version of it is moved over its file, written into it, put where it was
#         missing or into a folder that is looked at first.
#
#     watch.sh WEIR PLUGINS TEST_PLUGINS
set -uo pipefail
weir=$1
plugins=$2
test_plugins=$3
work=$(mktemp -d)
host=
failures=0
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT
mkfifo "$work/pipe"
etc=$work/etc
mkdir -p "$etc/conf.d" "$etc/secrets"
printf 'x-none: 0\n' >"$etc/conf.d/always.yaml"
file=$etc/weir.yaml
mailbox=10
reloads=0

fail() {
    printf 'FAILED: %s\n' "$*"
    tail -n 20 "$work/log"
    failures=$((failures + 1))
}

# Waits for the COUNTth line of the log that matches; fails when the host ends before.
await() {
    while (($(grep -c -e "$1" "$work/log") < ${2:-1})); do
        kill -0 "$host" 2>/dev/null || { fail "the host ended before: $1"; exit 1; }
        read -r -t 0.02 <>"$work/pipe"
    done
}

# text [WATCH]: the file, with the present mailbox
text() {
    printf 'version: 1\nhost: {plugins: ["%s"], watch: %s}\n' "$plugins" "${1:-true}"
    printf 'include: [conf.d/*.yaml]\n'
    printf 'sources: {numbers: {use: gen.forever, to: work}}\n'
    printf 'pools: {work: {use: sink.null, size: 1, mailbox: %s}}\n' "$mailbox"
}

# took_on WHAT [POOL]: the log has the new number; this is one more reload
took_on() {
    reloads=$((reloads + 1))
    await "path=pools.${2:-work} field=mailbox from=[0-9]* to=$mailbox\$"
    await 'event="configuration reloaded"' "$reloads"
    [[ $(grep -c "path=pools.${2:-work} field=mailbox .* to=$mailbox\$" "$work/log") == 1 ]] ||
        fail "$1: more than one reload"
}

next() { mailbox=$((mailbox + 1)); }

# In one step.
put() { text "$@" >"$work/new" && mv "$work/new" "$(readlink -f "$file")"; }

seen() { grep -c 'event="the configuration has changed"' "$work/log"; }

text >"$file"
: >"$work/log"
"$weir" run "$file" >"$work/stdout" 2>"$work/log" &
host=$!
await 'component=host event="started"'
await 'component=watch event="watching the configuration"'

# --- one file, written in the ways of tools
next
text >"$etc/.new" && mv "$etc/.new" "$file"
took_on "moved over it"
next
text >"$file"
took_on "truncated and written"
next
mv "$file" "$file~" && text >"$file" && rm "$file~"
took_on "moved away and written again"
next
sed -i "s/mailbox: [0-9]*/mailbox: $mailbox/" "$file"
took_on "sed -i"
next
# Half a file is no configuration: the host may read it when the other half comes late.
text | head -c -3 >"$file"
text | tail -c 3 >>"$file"
took_on "written in two steps"

# --- other files in the folder cause no reload
next
put
took_on "put"
before=$(seen)
: >"$etc/.weir.yaml.swp"
: >"$etc/other"
: >"$etc/conf.d/other"
rm "$etc/.weir.yaml.swp"
next
put
took_on "put again"
[[ $(seen) == $((before + 1)) ]] || fail "the watch saw a file that is not of the configuration"

# --- further files: one more, a changed one, one that goes
next
printf 'pools: {more: {use: sink.null, size: 1, mailbox: %s}}\n' "$mailbox" >"$etc/conf.d/more.yaml"
reloads=$((reloads + 1))
await 'event="pool added" path=pools.more'
await 'event="configuration reloaded"' "$reloads"
next
printf 'pools: {more: {use: sink.null, size: 1, mailbox: %s}}\n' "$mailbox" >"$etc/conf.d/more.yaml"
took_on "an included file" more
rm "$etc/conf.d/more.yaml"
reloads=$((reloads + 1))
await 'event="pool removed" path=pools.more'
await 'event="configuration reloaded"' "$reloads"

# --- a file of ${file:...}
next
printf '%s\n' "$mailbox" >"$etc/secrets/mailbox"
printf 'pools: {kept: {use: sink.null, size: 1, mailbox: "${file:%s}"}}\n' \
    "$etc/secrets/mailbox" >"$etc/conf.d/kept.yaml"
reloads=$((reloads + 1))
await 'event="pool added" path=pools.kept'
await 'event="configuration reloaded"' "$reloads"
next
printf '%s\n' "$mailbox" >"$etc/secrets/new" && mv "$etc/secrets/new" "$etc/secrets/mailbox"
took_on 'a file of ${file:...}' kept

# --- a rollout: the file is a link through a directory that is a link, which is flipped
mkdir "$etc/v1" "$etc/v2"
text >"$etc/v1/weir.yaml"
ln -s v1 "$etc/now"
next
ln -s now/weir.yaml "$etc/link"
text >"$etc/v1/weir.yaml"
mv -T "$etc/link" "$file"
took_on "made a link"
next
text >"$etc/v2/weir.yaml"
ln -s v2 "$etc/flip"
mv -T "$etc/flip" "$etc/now"
took_on "a flipped link"
next
text >"$etc/v2/weir.yaml"
took_on "written behind two links"

# --- a wrong file is reported once; the next change is reloaded
next
put
took_on "put behind two links"
before=$(seen)
refused=$(grep -c 'event="configuration refused"' "$work/log")
echo 'pools: [' >"$work/new" && mv "$work/new" "$etc/v2/weir.yaml"
await 'event="configuration refused"' $((refused + 1))
next
put
took_on "right again"
[[ $(seen) == $((before + 2)) ]] || fail "a wrong file was looked at more than once"

# --- the directory itself is replaced: no hint comes for changes in the new one
cp -r "$etc" "$work/fresh"
mv "$etc" "$work/old" && mv "$work/fresh" "$etc"
next
text >"$etc/v2/weir.yaml"
took_on "in another directory of the same name"

# --- `watch: false` ends the watch; HUP still reloads
next
put false
took_on "watches no more"
await 'component=watch event="no longer watching"'
before=$(seen)
next
put false
kill -HUP "$host"
took_on "HUP"
next
put
kill -HUP "$host"
took_on "watches again"
[[ $(seen) == "$before" ]] || fail "it watches although watch is off"
next
put
took_on "watched again"
kill -TERM "$host"
wait "$host"
host=
[[ $(grep -c 'event="configuration reloaded"' "$work/log") == "$reloads" ]] ||
    fail "not $reloads reloads: $(grep -c 'event="configuration reloaded"' "$work/log")"

# --- `weir run --watch` sees a plugin that was built again, without `host.watch`
mkdir "$work/built"
cp "$test_plugins/sample.so" "$work/built/"
file=$work/loop.yaml
{
    printf 'version: 1\nhost: {plugins: ["%s", "%s"]}\n' "$work/built" "$plugins"
    printf 'sources: {numbers: {use: gen.forever, to: work}}\n'
    printf 'pools: {work: {use: sample.bare, size: 1}}\n'
} >"$file"
"$weir" run --watch "$file" >"$work/stdout" 2>"$work/log" &
host=$!
await 'component=watch event="watching the configuration" files=4 '
cp "$test_plugins/next/sample.so" "$work/new" && mv "$work/new" "$work/built/sample.so"
await 'path=pools.work field=use from="sample.bare 1.0.0" to="sample.bare 2.0.0"'
await 'event="configuration reloaded"'
cp "$test_plugins/sample.so" "$work/built/sample.so"
await 'path=pools.work field=use from="sample.bare 2.0.0" to="sample.bare 1.0.0"'
await 'event="configuration reloaded"' 2
printf 'no object' >"$work/built/sample.so"
await 'event="configuration refused"'
cp "$test_plugins/next/sample.so" "$work/built/sample.so"
await 'event="configuration reloaded"' 3
rm "$work/built/sample.so"
await 'event="configuration refused"' 2
cp "$test_plugins/sample.so" "$work/new" && mv "$work/new" "$work/built/sample.so"
await 'event="configuration reloaded"' 4
rm -r "$work/built"
await 'event="configuration refused"' 3
# A file that cannot be read does not make the watch forget the plugin for good.
sed 's/^pools:/pools/' "$file" >"$work/new" && mv "$work/new" "$file"
await 'event="configuration refused"' 4
sed 's/^pools/pools:/' "$file" >"$work/new" && mv "$work/new" "$file"
await 'event="configuration refused"' 5
mkdir "$work/fresh"
cp "$test_plugins/next/sample.so" "$work/fresh/"
mv "$work/fresh" "$work/built"
await 'event="configuration reloaded"' 5
before=$(seen)
cp "$plugins/gen.so" "$work/new" && mv "$work/new" "$work/built/gen.so"
await 'event="the configuration has changed"' $((before + 1))
kill -TERM "$host"
wait "$host" || fail "exit code $?"
host=
code=0
"$weir" run --watch --debug "$file" 2>"$work/log" || code=$?
[[ $code == 64 ]] && grep -q 'takes --debug or --watch' "$work/log" || fail "--watch --debug: $code"

((failures == 0)) || exit 1
echo "watch: $reloads reloads, all as promised"
