# SPDX-License-Identifier: MIT
# Sourced by the tests of examples: builds examples/NAME as a stranger would, outside of our tree,
# against an installed Weir.
#
#     . example.sh NAME CMAKE BUILD SOURCE COMPILER GENERATOR
#
# Leaves: $work, an empty folder of the test's own, which is the current one; $weir, the installed
# program; build/NAME, where the YAML file of the example looks for its plugin.
name=$1 cmake=$2 build=$3 source=$4 compiler=$5 generator=$6

# What a user's shell may know of other installations is no part of this.
unset CC CXX LDFLAGS PKG_CONFIG_PATH CMAKE_PREFIX_PATH WEIR_PLUGIN_PATH
export LC_ALL=C

work=$(mktemp -d)
host=
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT
fail() {
    echo "FAIL: $*" >&2
    exit 1
}
try() { "$@" >"$work/log" 2>&1 || fail "$*: exit code $?: $(cat "$work/log")"; }

try "$cmake" --install "$build" --prefix "$work/prefix"
cp -r "$source/examples/$name" "$work/$name"
cd "$work"
try "$cmake" -G "$generator" -S "$name" -B "build/$name" -D CMAKE_C_COMPILER="$compiler" \
    -D CMAKE_PREFIX_PATH="$work/prefix"
try "$cmake" --build "build/$name"
try "$cmake" -E chdir "build/$name" "${cmake%cmake}ctest" --no-tests=error --output-on-failure
weir=$work/prefix/bin/weir

# What an example shows loses nothing without a word.
for file in "$name"/*.yaml; do
    [[ ! -f $file ]] || try "$weir" check --strict "$file"
done

# start FILE: runs it behind the test's back; its log is $work/log, what it prints $work/printed.
start() {
    : >"$work/log"
    "$weir" run "$1" >"$work/printed" 2>"$work/log" &
    host=$!
}

# await PATTERN [COUNT]: waits for the COUNTth line of the log that matches; there is no time limit
# but that of CTest, and the host's end.
mkfifo "$work/pipe"
await() {
    local pattern=$1 count=${2:-1} alive=1
    until (($(grep -c -e "$pattern" "$work/log") >= count)); do
        ((alive)) || fail "the host ended before line $count of \"$pattern\": $(cat "$work/log")"
        kill -0 "$host" 2>/dev/null || alive=0
        read -r -t 0.02 <>"$work/pipe" || true
    done
}

# finish CODE: waits for the host's end by itself.
finish() {
    local code=0
    wait "$host" || code=$?
    host=
    [[ $code == "$1" ]] || fail "exit code $code, not $1: $(cat "$work/log")"
    ! grep -q 'balance=wrong' "$work/log" || fail "the ledger does not balance"
}
