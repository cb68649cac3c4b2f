#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: examples/integrity finds exactly the sets of good, changed and missing files that md5sum -c
# finds over the same lists, and its exit code says which case it was.
# Shows promise I1, promise I2.
# Method: the real program over a private root with odd names, first untouched, then with files
# changed, removed and replaced by what cannot be read; then over a part of this machine's own
# package database. Names are compared as bytes, each ended by a NUL.
# Usage: integrity_md5sum.sh WEIR PLUGINS EXAMPLE
set -u
export LC_ALL=C

weir=$1
export WEIR_PLUGIN_PATH=$2
example=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

PACKAGES=12          # of the private root
FILES=40             # in each of them
REAL_PACKAGES=40     # lists of this machine that are looked at

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# --- the private root -----------------------------------------------------------------------------

root=$work/root
lists=$work/lists

# name PACKAGE NUMBER: a path with something odd in it, by the number; never a backslash in front.
name() {
    local base="usr/share/p$1/file-$2"
    case $(($2 % 10)) in
    0) printf '%s with  spaces ' "$base" ;;
    1) printf '%s\ttab' "$base" ;;
    2) printf '%s\\back\\nslash' "$base" ;;
    3) printf '%s-\303\244\342\202\254\360\237\222\247' "$base" ;;
    4) printf 'usr/share/p%s/--dashed -%s' "$1" "$2" ;;
    5) printf '%s\nline\nend' "$base" ;;
    6) printf 'usr/share/p%s/ *star #%s' "$1" "$2" ;;
    7) printf '%s-\377\200bytes' "$base" ;;
    8) printf '%s\\\n\\both' "$base" ;;
    *) printf '%s' "$base" ;;
    esac
}

# make_package NUMBER: its files and its list. Sizes go from 0 past the reader's buffer.
make_package() {
    local package=$1 number path size
    mkdir -p "$root/usr/share/p$package"
    for ((number = 0; number < FILES; number++)); do
        path=$(name "$package" "$number"; printf x)
        path=${path%x}
        size=$((number * number * (number % 7 == 0 ? 300 : 3)))
        head -c "$size" /dev/zero | tr '\0' "$(printf "\\$(printf %o $((33 + number)))")" \
            >"$root/$path"
        (cd "$root" && md5sum -- "$path") || exit 1
    done >"$lists/p$package:all.md5sums"
}

# path_of PACKAGE NUMBER: sets $path.
path_of() {
    path=$(name "$1" "$2"; printf x)
    path=$root/${path%x}
}

damage() {
    local package number path
    for ((package = 0; package < PACKAGES; package++)); do
        for ((number = package % 3; number < FILES; number += 9)); do
            path_of "$package" "$number"
            printf 'x' >>"$path"                    # changed
            path_of "$package" $((number + 1 < FILES ? number + 1 : 0))
            rm -f "$path"                           # missing
        done
    done
    path_of 1 30 && rm -f "$path" && mkdir "$path"                   # no file
    path_of 2 30 && rm -f "$path" && ln -s nowhere "$path"           # dangling
    path_of 3 30 && mv "$path" "$path.moved" && ln -s "$path.moved" "$path"    # still good
    path_of 4 30 && rm -f "$path" && ln -s "$path" "$path"           # a loop
    rm -rf "$root/usr/share/p5" && : >"$root/usr/share/p5"           # no directory any more
}

# --- what md5sum says -----------------------------------------------------------------------------

# Its names: raw, but escaped behind a backslash when there is a line end in them.
put_name() {
    case $1 in
    \\*) printf '%b\0' "${1#\\}" ;;
    *) printf '%s\0' "$1" ;;
    esac
}

# expected ROOT LISTS: writes ok, changed and failed, sorted, into $work/expected.
expected() {
    local list line
    mkdir -p "$work/expected"
    for list in "$2"/*.md5sums; do
        (cd "$1" && md5sum -c "$list" 2>/dev/null)
    done >"$work/md5sum.out"
    while IFS= read -r line; do
        case $line in
        *': OK') put_name "${line%: OK}" >&3 ;;
        *': FAILED open or read') put_name "${line%: FAILED open or read}" >&5 ;;
        *': FAILED') put_name "${line%: FAILED}" >&4 ;;
        *) fail "md5sum says: $line" ;;
        esac
    done <"$work/md5sum.out" 3>"$work/ok" 4>"$work/changed" 5>"$work/failed"
    sort_sets "$work/expected"
}

# sort_sets FOLDER: from $work.
sort_sets() {
    local set
    for set in ok changed failed; do
        sort -z "$work/$set" >"$1/$set"
    done
}

count() {
    tr -cd '\0' <"$1" | wc -c
}

# --- what weir says -------------------------------------------------------------------------------

# run CODE ROOT LISTS: the exit code; leaves the sets in $work/found.
run() {
    local wanted=$1 root=$2 code
    INTEGRITY_ROOT=$root INTEGRITY_LISTS="$3/*.md5sums" INTEGRITY_PRINT=all \
        "$weir" run "$example/integrity-root.yaml" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ "$code" -eq "$wanted" ] || {
        fail "exit $code, wanted $wanted; on stderr:"
        tail -n 20 "$work/err"
    }
    found "$root"
}

# The columns of report.results: verdict, package, two spaces, path, and maybe a tab and a reason.
found() {
    local root=${1%/} line verdict path
    mkdir -p "$work/found"
    while IFS= read -r line; do
        verdict=${line%% *}
        path=${line#*  }
        path=${path##*( )}
        path=${path#*  }
        path=${path%%$'\t'*}
        path=${path#"$root/"}
        case $verdict in
        ok) printf '%b\0' "$path" >&3 ;;
        changed) printf '%b\0' "$path" >&4 ;;
        missing | unreadable) printf '%b\0' "$path" >&5 ;;
        esac
    done <"$work/out" 3>"$work/ok" 4>"$work/changed" 5>"$work/failed"
    sort_sets "$work/found"
}

# same WHAT: the sets are equal, and the summary counts them.
same() {
    local set good changed failed before=$failures
    for set in ok changed failed; do
        cmp -s "$work/expected/$set" "$work/found/$set" || {
            fail "$1: $set differs from md5sum -c (< it, > weir):"
            diff <(tr '\0\n' '\n?' <"$work/expected/$set") <(tr '\0\n' '\n?' <"$work/found/$set") |
                head -n 20
        }
    done
    good=$(count "$work/expected/ok")
    changed=$(count "$work/expected/changed")
    failed=$(count "$work/expected/failed")
    grep -qE "^checked $((good + changed + failed)) files, .*: $good ok, $changed changed, " \
        "$work/out" || fail "$1: no such summary: $(grep '^checked' "$work/out")"
    [ "$failures" -eq "$before" ] || return
    echo "$1: $good ok, $changed changed, $failed missing or unreadable: as md5sum -c"
}

# --- the runs -------------------------------------------------------------------------------------

shopt -s extglob
mkdir -p "$root" "$lists"
for ((package = 0; package < PACKAGES; package++)); do
    make_package "$package"
done

expected "$root" "$lists"
[ "$(count "$work/expected/ok")" -eq $((PACKAGES * FILES)) ] || fail 'the private root is not whole'
run 0 "$root" "$lists"
same 'untouched root'

damage
expected "$root" "$lists"
[ "$(count "$work/expected/changed")" -gt 20 ] || fail 'too little was changed'
[ "$(count "$work/expected/failed")" -gt 50 ] || fail 'too little was removed'
run 1 "$root" "$lists"
same 'damaged root'
grep -qE $'^unreadable  p1:all  .*\t\\(Is a directory\\)$' "$work/out" ||
    fail 'a directory is not reported as unreadable'
grep -qE $'^unreadable  p4:all  .*\t\\(Too many levels of symbolic links\\)$' "$work/out" ||
    fail 'a loop is not reported as unreadable'
[ "$(grep -c '^unreadable ' "$work/out")" -eq 2 ] || fail 'more than two are unreadable'

# What md5sum -c would wait for: a FIFO; and what it passes over: a line that is none.
mkdir "$work/odd"
mkfifo "$root/fifo"
printf 'd41d8cd98f00b204e9800998ecf8427e  fifo\nnonsense\n' >"$work/odd/odd.md5sums"
run 1 "$root" "$work/odd"
grep -qE $'^unreadable  odd  .*/fifo\t\\(Not a regular file\\)$' "$work/out" ||
    fail 'a FIFO is not reported as unreadable'
grep -q 'line not understood' "$work/err" || fail 'a malformed line is not reported'

# No list at all: nothing was checked, and that is no success.
mkdir "$work/none"
run 1 "$root" "$work/none"
grep -q '^checked 0 files, 0 B' "$work/out" || fail 'nothing is not summed up'

sed 's/use: report.results/use: report.result/; s/size: 1/size: -1/' \
    "$example/integrity-root.yaml" >"$work/bad.yaml"
INTEGRITY_ROOT=$root INTEGRITY_LISTS=x "$weir" run "$work/bad.yaml" >"$work/out" 2>"$work/err"
code=$?
[ "$code" -eq 78 ] || fail "bad YAML: exit $code, wanted 78"
[ "$(grep -c 'bad.yaml:[0-9]*:[0-9]*: pools.report' "$work/err")" -eq 2 ] ||
    fail "bad YAML: not both errors are reported: $(cat "$work/err")"
[ ! -s "$work/out" ] || fail 'bad YAML: something was run'

"$weir" check "$example/integrity.yaml" >/dev/null || fail 'integrity.yaml has errors'

# --- this machine ---------------------------------------------------------------------------------

if compgen -G '/var/lib/dpkg/info/*.md5sums' >/dev/null; then
    mkdir "$work/real"
    printf '%s\n' /var/lib/dpkg/info/*.md5sums | head -n "$REAL_PACKAGES" |
        xargs cp -t "$work/real"
    expected / "$work/real"
    wanted=0
    [ -s "$work/expected/changed" ] || [ -s "$work/expected/failed" ] && wanted=1
    run "$wanted" / "$work/real"
    same "this machine, $(find "$work/real" -name '*.md5sums' | wc -l) packages"
else
    echo 'this machine has no dpkg database: only the private root was compared'
fi

[ "$failures" -eq 0 ] || exit 1
