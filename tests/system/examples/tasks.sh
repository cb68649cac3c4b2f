#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal:   a C program runs functions on a pool, the first failure of a group cancels the rest, and
#         the program has fewer lines than the same with libuv; the calls of Go's pools do what the
#         guide says. Shows promises E10 and E13.
# Method: the example's own tests, built against an installed Weir; then both programs with more
#         numbers than may wait, all prime, and one that is not among them.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/example.sh"
libuv=$4/tests/system/examples/primes_libuv.c

# Lines of code: without empty lines and comments.
lines() {
    sed -e 's|/\*.*\*/||' -e '/\/\*/,/\*\//d' "$1" | grep -c '[^[:space:]]'
}

read -ra flags <<<"${CFLAGS:-}"
try "$compiler" -std=c11 -D_GNU_SOURCE -O1 -o primes_libuv "$libuv" "${flags[@]}" -luv
mapfile -t primes < <(seq 1000003 2 1050003 | factor | awk 'NF == 2 { print $2 }')
for program in "build/$name/primes" ./primes_libuv; do
    try "$program" "${primes[@]}"
    code=0
    "$program" "${primes[@]}" 1000001 "${primes[@]}" >printed || code=$?
    [[ $code == 1 && $(<printed) == '1000001 is not prime' ]] ||
        fail "$program: exit code $code: $(<printed)"
done
ours=$(lines "$name/primes.c") theirs=$(lines "$libuv")
((ours < theirs)) || fail "$ours lines of code, $theirs with libuv"
grep -q "has $theirs lines of code, where \`primes.c\` has $ours" "$name/README.md" ||
    fail "the README says something else than $ours and $theirs"
