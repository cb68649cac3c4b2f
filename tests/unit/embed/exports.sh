#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: libweir shows the functions of weir/runtime.h and weir/plugin.h, the inline ones too, and
# nothing else, and asks
# the C library for nothing with which it could write, end the program, or change its signals or
# environment.
# Method: nm and readelf on the library; the headers name the functions. promise E2
set -euo pipefail
library=$1 folder=${2%/*} sanitized=$3
headers=("$2" "$folder"/{messages,figures,tasks,leases}.h)

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

declared=$(grep -hoE '^WEIR_API .*|^ +weir_runtime_[a-z_]+\(' "${headers[@]}" |
    grep -oE 'weir_runtime_[a-z_]+\(' | tr -d '(' | sort -u)
# A function begins with its word, perhaps behind an attribute; its name stands before the first
# parenthesis.
inline=$(cat "$folder"/*.h | grep -v '^#define' | tr '\n' ' ' |
    grep -oE '\bWEIR_INLINE [^(;]*\(' | grep -oE '[a-z_]+\($' | tr -d '(' | sort -u)
(($(wc -l <<<"$inline") > 100)) || fail "few inline functions: $inline"
declared=$(sort -u <<<"$declared"$'\n'"$inline")
shown=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u)
[[ -n $declared && $shown == "$declared" ]] ||
    fail "shown, not declared, or the other way: $(diff <(echo "$declared") <(echo "$shown") || :)"
dynamic=$(readelf -d "$library")
[[ $dynamic =~ SONAME.*\[libweir\.so\.[0-9]+\] ]] || fail "no soname with a version"

# It may open a file, to read its quota of CPUs, but has nothing to write with. A sanitizer brings
# its own.
[[ $sanitized == 0 ]] || exit 0
wanted=$(nm -D --undefined-only "$library" | awk '{ print $2 }' | sed 's/@.*//')
for banned in printf fprintf puts fputs fwrite putchar write sigaction signal pthread_sigmask \
    sigprocmask exit _exit atexit setenv putenv setlocale fork system dlopen open socket; do
    ! grep -qxE "(__)?$banned(_chk)?" <<<"$wanted" || fail "it can call $banned"
done
