#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: the plugin and the YAML file of the README do what the README says, outside of our tree.
# Method: install into an empty prefix, build examples/first with find_package(Weir), run it from a
# copy, and compare with the primes that another method finds. The README shows the files as they
# are.
set -euo pipefail
cmake=$1 build=$2 source=$3 compiler=$4 generator=$5

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAIL: $*" >&2
    exit 1
}

shown_in_readme() {
    python3 - "$source/README.md" "$source/$1" <<'END'
import sys
readme, file = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
licence, _, rest = file.partition("\n")  # a reader of the README needs no such line
file = rest if "SPDX-License-Identifier" in licence else file
sys.exit("```\n" not in readme or file not in readme)
END
}
for file in examples/first/primes.c examples/first/first.yaml; do
    shown_in_readme "$file" || fail "README.md does not show $file as it is"
done

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" || fail "$(cat "$work/log")"
cp -r "$source/examples/first" "$work/first"
cd "$work"
"$cmake" -G "$generator" -S first -B build/first -D CMAKE_C_COMPILER="$compiler" \
    -D CMAKE_PREFIX_PATH="$work/prefix" >log 2>&1 || fail "$(cat log)"
"$cmake" --build build/first >log 2>&1 || fail "$(cat log)"
[[ -f build/first/plugins/primes.so ]] || fail "no build/first/plugins/primes.so"

# The bundled plugins lie where the YAML file says they do.
mkdir -p build/release
cp -r "$build/plugins" build/release/plugins
prefix/bin/weir run first/first.yaml >found 2>log || fail "exit code $?: $(cat log)"
# 0 and 1, if the source begins there, have no divisor that the plugin could find.
seq 2 9999 | factor | awk 'NF == 2 { print $2 }' >expected
grep -vxE '[01]' found | sort -n >seen
cmp -s expected seen || fail "other primes: $(diff expected seen | head -5)"
