#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   the example counts exactly the words that `tr`, `sort` and `uniq` count, keeps the lines
#         of each file in order, and loses no count when its shards come and go. Shows promise X1.
# Method: the licences of every Debian, and texts that are awkward on purpose, are counted by both.
#         Then a run is held open by a source that nobody serves, reshaped three times, and let go.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"

# What the tools find in the files. No text: no line. The end of a file ends a word.
expected() {
    for text; do cat "$text" && echo; done | tr -cs 'A-Za-z\200-\377' '\n' | tr A-Z a-z |
        sed '/^$/d' | sort | uniq -c |
        sort -k1,1nr -k2
}

# compare PRINTED FILE...: the table, the sum over the shards, and the order.
compare() {
    local printed=$1 words
    shift
    expected "$@" >expected
    sed '/^#/d' "$printed" >found
    cmp -s expected found || fail "other counts: $(diff expected found | head -5)"
    words=$(awk '{ sum += $1 } END { print sum + 0 }' expected)
    grep -qx "# $words words, $(wc -l <expected) different; .*" "$printed" ||
        fail "other sums, not $words: $(grep '^#' "$printed")"
    [[ $(awk '/^# shard/ { sum += $4 } END { print sum }' "$printed") == "$words" ]] ||
        fail "the shards do not add up to $words: $(grep '^#' "$printed")"
}
ordered() { grep -q '; 0 groups out of order$' "$1" || fail "order: $(grep '^#' "$1")"; }

# --- texts of others, and the top ten

licences=(/usr/share/common-licenses/*)
export WORDS_TOP=0
start words/words.yaml
finish 0
compare printed "${licences[@]}"
ordered printed
WORDS_TOP=10 start words/words.yaml
finish 0
[[ $(sed '/^#/d' printed) == "$(head -10 expected)" ]] || fail "another top ten: $(cat printed)"

# --- texts that are awkward

mkdir texts
: >"texts/empty"
printf 'no end of line' >"texts/no end"
printf 'Line\r\nEnds\rof\r\nothers\r\n' >texts/cr
printf 'caf\303\251 CAF\303\251 \377\200\001 a\0b\0\0c\n\n\n' >texts/bytes
seq -s ' ' 1 100000 >texts/numbers
# One line of 1 MiB less one: as long as a line may be, one word each; then 150,000 words in a line.
head -c 1048575 /dev/zero | tr '\0' x >texts/word
seq 37500 | sed 's/.*/Of mice and men/' | tr '\n' ' ' >texts/line
head -c 1000000 "$weir" >texts/program
tr '\n' ' ' <texts/program | tr '\0' '\n' | fold -b -w 60000 >texts/folded
rm texts/program
export WORDS_TEXTS=$work/texts/*
start words/words.yaml
finish 0
compare printed texts/*
ordered printed

# --- reshaped while it works

for copy in 1 2 3 4; do
    cat "${licences[@]}" "${licences[@]}" >texts/copy$copy
done
# shape SIZE [LINE...]: the example with so many shards.
shape() {
    sed "/words.count/,/size:/s/size: [0-9]*/size: $1/" words/words.yaml >new.yaml
    printf '%s\n' "${@:2}" >>new.yaml
    mv new.yaml shaped.yaml
}
held=('  nobody: {use: sink.null, size: 0}'
    'sources:'
    "  texts: {use: files.lines, args: {paths: [\"$work/texts/*\"]}, to: split}"
    '  held: {use: gen.forever, to: nobody}')
hold() {
    shape "$1" "${held[@]}"
    # The sources stand at the end instead.
    sed -i '0,/^sources:/{/^sources:/d}; /^  texts:$/,/^    to: split$/d' shaped.yaml
}
hold 4
start shaped.yaml
await 'event="started"'
reloads=0
for size in 7 2 5; do
    hold "$size"
    kill -HUP "$host"
    await 'event="configuration reloaded"' $((++reloads))
done
shape 5
kill -HUP "$host"
await 'event="configuration reloaded"' $((++reloads))
finish 0
compare printed texts/*
grep -qx '# shard 6: [1-9][0-9]* words' printed || fail "nothing was counted in the seventh shard"
