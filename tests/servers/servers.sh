# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# ./dev servers. The script dev sources this file.

# The tests of ./dev test that kill a host, or its workers, at random moments, with more kills.
kill_hosts() {
    local test
    for test in tail dead_letter_file queue_kills; do
        PYTHONPATH=tests/system/control PYTHONDONTWRITEBYTECODE=1 \
            python3 "tests/system/connectors/$test.py" "$PWD/build/$1/bin/weir" \
            "$PWD/build/$1/plugins" "$PWD" --kills 200 || fail "$test (see above)"
    done
    PYTHONDONTWRITEBYTECODE=1 python3 tests/system/isolation/storm.py "$PWD/build/$1/bin/weir" \
        "$PWD/build/$1/plugins" "$PWD/build/$1/tests/plugins" --kills 3000 ||
        fail "isolation storm (see above)"
}

# A clock that is set, under a real host.
clock_steps() {
    local folder=tests/system
    PYTHONPATH=$folder/control:$folder/connectors PYTHONDONTWRITEBYTECODE=1 \
        python3 "$folder/connectors/clock_steps.py" "$PWD/build/$1/bin/weir" \
        "$PWD/build/$1/plugins" "$PWD" \
        "$PWD/build/$1/tests/system/connectors/libweir_stepped_clock.so"
}

do_servers() { servers_of dev "$@"; }

# servers_of PRESET ARG...: the tests with foreign servers, with what PRESET builds.
servers_of() {
    local preset=$1
    shift
    need "${test_packages[@]}"
    need_servers
    need_without_service "${queue_packages[@]}" "${front_packages[@]}"
    compile "$preset"
    clock_steps "$preset" >build/clock_steps.log 2>&1 & # it mostly waits
    local steps=$!
    python3 tests/servers/pgpool.py "build/$preset" . "$@" || fail "pgpool (see above)"
    python3 tests/servers/front.py "build/$preset" || fail "http.server behind nginx (see above)"
    # Of Debian's Python, which has the client.
    /usr/bin/python3 tests/servers/amqp.py "build/$preset" "$@" || fail "amqp (see above)"
    if [[ " $* " == *" --long "* ]]; then
        kill_hosts "$preset"
    fi
    need "${script_packages[@]}"
    PYTHONPATH=tests/system/control PYTHONDONTWRITEBYTECODE=1 \
        python3 tests/system/connectors/languages.py "$PWD/build/$preset/bin/weir" \
        "$PWD/build/$preset/plugins" "$PWD" js || fail "a worker in JavaScript (see above)"
    wait "$steps" || fail "clock_steps: $(<build/clock_steps.log)"
    need "${picture_packages[@]}"
    python3 tests/servers/damaged_pictures.py "$(command -v cmake)" "build/$preset" . "$@" ||
        fail "pictures (see above)"
    need "${debug_packages[@]}"
    bash tests/servers/debugging.sh "$(command -v cmake)" "build/$preset" . ||
        fail "debugging (see above)"
    need "${browser_packages[@]}"
    bash tests/servers/page.sh thumbs "$(command -v cmake)" "build/$preset" . cc Ninja \
        build/pictures/thumbs.png || fail "thumbs in a browser (see above)"
}
