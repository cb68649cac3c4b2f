# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# ./dev bench: one function for each kind of benchmark. ./dev sources this file.

# Names a peer whose package is not available, and goes on with the others.
need_peers() {
    local package
    for package in "${peer_packages[@]}"; do
        (need "$package") || say "without $package its peer is absent"
    done
}

bench_reload() {
    cmake --build --preset bench -j "$(cores)" || fail "building failed (see above)"
    python3 tests/bench/reload.py build/bench/bin/weir build/bench/plugins \
        build/bench/tests/plugins "$@" || fail "the reloads (see above)"
}

bench_tasks() {
    need_peers
    cmake --build --preset bench -j "$(cores)" --target weir_library ||
        fail "building failed (see above)"
    python3 tests/bench/tasks.py build/bench/core sdk/include build/bench "$@" ||
        fail "a task has not run (see above)"
}

bench_pulling() {
    cmake --build --preset bench -j "$(cores)" --target weir weir_plugin_uneven ||
        fail "building failed (see above)"
    python3 tests/bench/pulling.py build/bench/bin/weir build/bench/tests/bench/plugins "$@" ||
        fail "the pieces (see above)"
}

bench_isolation() {
    cmake --build --preset bench -j "$(cores)" --target weir weir_plugin_gen weir_plugin_load ||
        fail "building failed (see above)"
    python3 tests/bench/isolation.py build/bench/bin/weir build/bench/plugins \
        build/bench/tests/bench/plugins "$@" || fail "a message is missing (see above)"
}

bench_exec() {
    (need parallel) || say "without parallel its row is absent"
    cmake --build --preset bench -j "$(cores)" --target weir weir_plugin_exec weir_plugin_files \
        weir_plugin_stdout || fail "building failed (see above)"
    python3 tests/bench/exec.py build/bench/bin/weir build/bench/plugins "$@" ||
        fail "a job has not run (see above)"
}

bench_users() {
    (need parallel) || say "without parallel its rows are absent"
    cmake --build --preset bench -j "$(cores)" --target weir weir_plugin_exec weir_plugin_files \
        weir_plugin_stdin weir_plugin_stdout || fail "building failed (see above)"
    python3 tests/bench/users.py build/bench/bin/weir build/bench/plugins "$@" ||
        fail "a row is wrong (see above)"
}

bench_positions() {
    cmake --build --preset bench -j "$(cores)" --target weir weir_plugin_files weir_plugin_sink \
        weir_test_plugins || fail "building failed (see above)"
    python3 tests/bench/positions.py build/bench/bin/weir build/bench/plugins \
        build/bench/tests/plugins "$@" || fail "a line is missing (see above)"
}

bench_amqp() {
    need_without_service "${queue_packages[@]}"
    configure bench # its peer is built where the library is
    cmake --build --preset bench -j "$(cores)" --target weir weir_plugin_amqp weir_plugin_gen \
        weir_plugin_sink bench_amqp_plain || fail "building failed (see above)"
    /usr/bin/python3 tests/bench/amqp.py build/bench build/bench/bin/bench_amqp_plain "$@" ||
        fail "a piece is missing (see above)"
}

bench_queue() {
    need_servers
    need_without_service "${queue_packages[@]}" "${durable_packages[@]}"
    cmake --build --preset bench -j "$(cores)" --target weir weir_plugin_queue weir_queue \
        weir_plugin_stdin weir_plugin_sink bench_queue_peer bench_queue_sql bench_amqp_plain ||
        fail "building failed (see above)"
    local bin=build/bench/bin
    /usr/bin/python3 tests/bench/durable.py build/bench "$bin/bench_queue_peer" \
        "$bin/bench_queue_sql" "$bin/bench_amqp_plain" "$@" || fail "a piece is missing (see above)"
}

bench_http() {
    need_without_service "${web_packages[@]}"
    configure bench # its peer is built where the library is
    cmake --build --preset bench -j "$(cores)" --target weir weir_plugin_http weir_plugin_answer \
        bench_gateway_plain bench_gateway_offer || fail "building failed (see above)"
    python3 tests/bench/gateway.py build/bench "$@" || fail "an answer is wrong (see above)"
}

# Unpacks only the program, since an installed package starts a service.
unpack_pgbouncer() {
    local folder=$PWD/build/bench/pgbouncer
    if command -v pgbouncer >/dev/null || [[ -x $folder/usr/sbin/pgbouncer ]]; then
        return
    fi
    need libevent-2.1-7 libc-ares2
    mkdir -p "$folder"
    (cd "$folder" && apt-get download -q pgbouncer && dpkg -x pgbouncer_*.deb .)
}

bench_leases() {
    need_servers
    (unpack_pgbouncer) || say "without pgbouncer its row is absent"
    cmake --build --preset bench -j "$(cores)" --target weir_library ||
        fail "building failed (see above)"
    python3 tests/bench/leases.py build/bench/core . build/bench "$@" ||
        fail "a use is missing (see above)"
}

bench_threads() {
    cmake --build --preset bench -j "$(cores)" --target bench || fail "building failed (see above)"
    python3 tests/bench/threads.py build/bench/bin/bench "$@" ||
        fail "a row is wrong (see above)"
}

# The rows of tests/bench/rows.py, ours and the peers' by turns; arguments go to bench.py.
do_bench() {
    if [[ ${1:-} == publish ]]; then
        python3 tests/bench/bench.py --folder build/bench --publish docs
        say "written: docs/benchmarks.md and docs/benchmarks.svg"
        return
    fi
    need "${test_packages[@]}"
    configure bench
    case ${1:-} in
    reload | tasks | pulling | isolation | \
        exec | users | positions | threads | leases | amqp | http | queue)
        "bench_$1" "${@:2}"
        return
        ;;
    esac
    need_peers
    cmake --build --preset bench -j "$(cores)" \
        --target bench weir weir_plugin_gen weir_plugin_load || fail "building the bench failed"
    local folder=$PWD/build/bench
    python3 tests/bench/bench.py --weir "$folder/bin/bench" --folder "$folder" \
        --run "$folder/bin/weir" "$folder/plugins" "$folder/tests/bench/plugins" "$@" ||
        fail "a row is wrong (see above)"
}
