#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   each picture gets one thumbnail that fits, shows what the picture shows, and lies under a
#         name of its own; large ones go to the workers for large ones; other files are reported.
#         Shows promise X2.
# Method: pictures of a Debian package and some of our own are scaled; sizes and colours are read by
#         pictures.py, which shares no code with the library. The ledger says who scaled how many.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
. "$here/example.sh"

pictures() { python3 "$here/pictures.py" "$@"; }

mkdir pictures into
export THUMBS_PICTURES=$work/pictures/* THUMBS_INTO=$work/into
dpkg-query -L xfdesktop4-data | grep -E '\.(png|jpg|svg)$' >list || fail "no xfdesktop4-data here"
while read -r path; do
    cp "$path" "pictures/${path//\//_}"
done <list
pictures make pictures
count=$(find pictures -type f | wc -l)

start thumbs/thumbs.yaml
finish 0
[[ $(tail -n 1 printed) == "$count thumbnails, 0 failed" ]] || fail "printed: $(cat printed)"
[[ $(find into -type f | wc -l) == "$count" ]] || fail "other files: $(ls into)"
pictures check pictures into "$work/pictures/" 128 || fail "see above"

# Without those that an idle worker took over from a busy one: they count once more.
accepted() {
    local ledger="s|.*component=pictures/$1 .* accepted=([0-9]+) .* moved=([0-9]+) .*|\1 - \2|p"
    echo $(($(sed -nE "$ledger" log)))
}
large=$(pictures count-large pictures 1000000)
drawings=$(find pictures -name '*.svg' | wc -l)
((large > 0 && drawings > 0 && large + drawings < count)) || fail "too few of one kind"
(($(accepted large) >= large && $(accepted large) <= large + drawings)) ||
    fail "$(accepted large) by those for large ones, of $large large and $drawings drawings"
(($(accepted large) + $(accepted small) == count)) || fail "others: $(grep ledger log)"

# --- files that are no pictures

rm -r pictures into
mkdir pictures into
echo "no picture" >pictures/text.png
: >pictures/empty.jpg
mkfifo pictures/fifo.png
mkdir pictures/folder.png
pictures make pictures
start thumbs/thumbs.yaml
finish 1
grep '^failed' printed | sort >found
sort >expected <<EXPECTED
failed $work/pictures/empty.jpg  (not a picture)
failed $work/pictures/fifo.png  (not a file)
failed $work/pictures/folder.png  (not a file)
failed $work/pictures/text.png  (not a picture)
EXPECTED
cmp -s expected found || fail "reported: $(diff expected found)"
[[ $(tail -n 1 printed) == *" thumbnails, 4 failed" ]] || fail "printed: $(cat printed)"
pictures check pictures into "$work/pictures/" 128 || fail "see above"

# --- behind HTTP

python3 "$here/thumbs_web.py" "$weir"
