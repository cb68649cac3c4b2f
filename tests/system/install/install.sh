#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: with only an installed Weir one can write, build, test, check, run and install a plugin.
# Method: install into an empty prefix, move that, then do in an empty folder what the README of
# `weir new plugin` says, with each compiler that is here; in C++, by pkg-config, and with plugins
# that the build must refuse. Shows promise B6; ./dev bareroot does so on a Debian that has no more.
set -euo pipefail
cmake=$1 build=$2 generator=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# What a stranger's shell may know of other installations is no part of this.
unset CC CXX CFLAGS CXXFLAGS LDFLAGS PKG_CONFIG_PATH CMAKE_PREFIX_PATH WEIR_PLUGIN_PATH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/moved here" # with a blank, as folders of people have
weir=$prefix/bin/weir
fail() {
    echo "FAIL: $*" >&2
    exit 1
}
try() { "$@" >"$work/log" 2>&1 || fail "$*: exit code $?: $(cat "$work/log")"; }
# refused CODE WORDS COMMAND...: the command ends with the code (any but 0, if `-`) and the words.
refused() {
    local wanted=$1 words=$2 code=0
    shift 2
    "$@" >"$work/log" 2>&1 || code=$?
    [[ $code == "$wanted" || ($wanted == - && $code != 0) ]] ||
        fail "$*: exit code $code, not $wanted: $(cat "$work/log")"
    grep -qF -- "$words" "$work/log" || fail "$*: says nothing of \"$words\": $(cat "$work/log")"
}
# configure SOURCE BUILD [OPTION...]
configure() {
    try "$cmake" -G "$generator" -S "$1" -B "$2" -D CMAKE_PREFIX_PATH="$prefix" "${@:3}"
}

# --- an installation that can be moved

try "$cmake" --install "$build" --prefix "$work/prefix"
mv "$work/prefix" "$prefix"
# The unit alone has to name the folder.
unit=lib/systemd/system/weir@.service
grep -qx "ExecStart=$work/prefix/bin/weir run /etc/weir/%i.yaml" "$prefix/$unit" ||
    fail "the unit runs another program: $(grep ExecStart "$prefix/$unit")"
if grep -rIlE --exclude=weir@.service "$work/prefix|$build|$here" "$prefix"; then
    fail "these files of the installation name a place of the build"
fi
cd "$work"
try "$weir" --version
for plugin in exec file files gen integrity report sink stdin stdout; do
    try "$weir" describe "$plugin"
done
try "$weir" check "$prefix/etc/weir/weir.yaml"
[[ $(ls "$prefix" | xargs) == "bin etc include lib share" ]] || fail "installed: $(ls "$prefix")"
for page in man1/weir.1 man5/weir.yaml.5; do
    [[ -s $prefix/share/man/$page ]] || fail "no $page"
done
try bash -uc '. "$1" && complete -p weir' _ "$prefix/share/bash-completion/completions/weir"
for page in zsh/site-functions/_weir fish/vendor_completions.d/weir.fish; do
    [[ -s $prefix/share/$page ]] || fail "no $page"
done
echo "installed: program, plugins, configuration"

# --- weir new plugin, with each compiler

shape_is_right() {
    local visible
    visible=$(nm -D --defined-only "$1" | awk '{ print $3 }')
    [[ $visible == weir_plugin_v1 ]] || fail "$1 shows more than its descriptor: $visible"
    readelf -d "$1" >dynamic
    ! grep -q SONAME dynamic || fail "$1 has a soname"
    grep -q SYMBOLIC dynamic || fail "$1 is not bound to its own symbols"
}

# new_plugin_works COMPILER NAME NUMBERS FILE [OPTION]: what the option makes gives these numbers,
# to the file, or to standard output when FILE is empty.
new_plugin_works() {
    local compiler=$1 name=$2 numbers=$3 from=$4
    mkdir -p "$work/$compiler"
    cd "$work/$compiler"
    try "$weir" new plugin "$name" "${@:5}"
    cd "$name"
    configure . build -D CMAKE_C_COMPILER="$compiler" -D CMAKE_C_FLAGS=-Werror \
        -D CMAKE_CXX_COMPILER="${cxx[$compiler]}" -D CMAKE_CXX_FLAGS=-Werror
    grep -q -e "-O2 -g .*-Wall -Wextra" "build/CMakeFiles/weir_plugin_$name.dir/flags.make" \
        build/build.ninja 2>/dev/null || fail "$name is not built with -O2 -g -Wall -Wextra"
    try "$cmake" --build build
    grep -qF "$name.so: ok ($name 0.1.0, 1 behaviour)" "$work/log" ||
        fail "the build did not check the plugin: $(cat "$work/log")"
    shape_is_right "build/plugins/$name.so"
    try "$cmake" -E chdir build "${cmake%cmake}ctest" --no-tests=error
    try "$weir" check "$name.yaml"
    "$weir" run "$name.yaml" >printed 2>"$work/log" || fail "exit code $?: $(cat "$work/log")"
    [[ -z $from ]] || mv "$from" printed
    [[ $(sort -n printed | xargs) == "$numbers" ]] || fail "$name printed: $(xargs <printed)"
    echo "new plugin: $name, $compiler"
}
declare -A cxx=([gcc]=g++ [clang]=clang++)
for compiler in gcc clang; do
    new_plugin_works "$compiler" "my_$compiler" "25 50 75 100" ""
    new_plugin_works "$compiler" my_source "1 4 9 16 25 36 49 64 81 100" squares.txt --source
    new_plugin_works "$compiler" my_sink "1 2 3 4 5 6 7 8 9 10" numbers.txt --sink
    new_plugin_works "$compiler" my_cxx "25 50 75 100" "" --cxx
    new_plugin_works "$compiler" my_cxx_source "1 4 9 16 25 36 49 64 81 100" squares.txt --cxx \
        --source
    new_plugin_works "$compiler" my_cxx_sink "1 2 3 4 5 6 7 8 9 10" numbers.txt --cxx --sink
done

# --- what `weir new` refuses

cd "$work"
mkdir there
echo kept >there/file
refused 73 "there is there already; nothing was changed" "$weir" new plugin there
[[ $(ls -A there) == file && $(<there/file) == kept ]] || fail "there was changed"
refused 64 "\"Not-a-name\" is no name for a plugin" "$weir" new plugin Not-a-name
refused 64 "there is a plugin called gen already" "$weir" new plugin gen
refused 64 "takes \`plugin\` and a name" "$weir" new pool images
[[ ! -e gen && ! -e Not-a-name && ! -e images ]] || fail "something was made all the same"
# Where not even root can make a folder.
cd /proc
refused 73 "weir new: nowhere: " "$weir" new plugin nowhere
cd "$work"

# --- plugins that the build refuses

configure "$here/wrong" wrong
refused - "no_such_function" "$cmake" --build wrong --target weir_plugin_undefined
refused - "calls itself" "$cmake" --build wrong --target weir_plugin_misnamed
[[ -z $(ls wrong/plugins 2>/dev/null) ]] || fail "wrong plugins: $(ls wrong/plugins)"
# One that was right stays, as a host may watch the folder.
cd "$work/gcc/my_gcc"
sum=$(sha256sum build/plugins/my_gcc.so)
sed -i.right 's/WEIR_PLUGIN("my_gcc"/WEIR_PLUGIN("other"/' my_gcc.c
refused - "calls itself" "$cmake" --build build --target weir_plugin_my_gcc
[[ $(sha256sum build/plugins/my_gcc.so) == "$sum" ]] || fail "a refused build changed the plugin"
sed 's/"0.1.0"/"0.2.0"/' my_gcc.c.right >my_gcc.c
try "$cmake" --build build
[[ $(ls build/plugins) == my_gcc.so ]] || fail "built: $(ls build/plugins)"
"$weir" describe build/plugins/my_gcc.so | grep -qF 0.2.0 || fail "the new build is not there"
cd "$work"
echo "wrong plugins: refused by their build"

# --- in C++

for compiler in g++ clang++; do
    for standard in 11 14 17 20; do
        try "$compiler" -std=c++$standard -Wall -Wextra -Wpedantic -Werror \
            -Wno-missing-field-initializers -fsyntax-only \
            -I "$prefix/include" "$here/cpp/header.cpp"
    done
    rm -rf cpp
    configure "$here/cpp" cpp -D CMAKE_CXX_COMPILER="$compiler"
    try "$cmake" --build cpp
    shape_is_right cpp/plugins/plus.so
    "$weir" run "$here/cpp/plus.yaml" >printed 2>"$work/log" || fail "$(cat "$work/log")"
    [[ $(<printed) == 5050 ]] || fail "plus printed: $(cat printed)"
    echo "C++: $compiler"
done

# --- by pkg-config, and installed: found by its bare name from anywhere

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weir-sdk.pc)")
export PKG_CONFIG_PATH
# pkg-config escapes the blank as a shell wants it.
eval "flags=($(pkg-config --cflags weir-sdk))"
plugins=$(pkg-config --variable=plugindir weir-sdk)
plugins=${plugins//\\/}
[[ $plugins -ef $(dirname "$(find "$prefix" -name gen.so)") ]] || fail "plugindir: $plugins"
try gcc "${flags[@]}" -shared -fPIC -o "$plugins/my_gcc.so" gcc/my_gcc/my_gcc.c
try "$weir" check --plugin "$plugins/my_gcc.so"
rm "$plugins/my_gcc.so"
echo "pkg-config: weir-sdk"

for folder in gcc/my_gcc clang/my_clang; do
    try "$cmake" --install "$folder/build"
    (cd / && try "$weir" describe "${folder#*/}.pick")
done
echo "installed plugins: found by their names"
