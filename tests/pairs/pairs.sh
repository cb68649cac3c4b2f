#!/bin/bash
# SPDX-License-Identifier: MIT
# ./dev pairs, which sources this file and has its functions.

# Real hosts, with their plugins.
pairs_of_hosts() {
    compile dev
    PYTHONDONTWRITEBYTECODE=1 python3 tests/pairs/hosts/hosts.py build/dev "$@" ||
        fail "a pair of hosts (see above)"
}

# In fibers, then by threads with a tenth of the seeds. Hosts: one seed, unless others are named.
do_pairs() {
    local preset=dev fibers=true seeds=200 arguments=()
    if [[ ${1:-} == --hosts ]]; then
        need "${test_packages[@]}"
        pairs_of_hosts "${@:2}"
        return
    fi
    while (($#)); do
        case $1 in
        --tsan) preset=tsan fibers=false ;;
        --threads) fibers=false ;;
        --seeds)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "--seeds needs a number, at least 1"
            seeds=$2
            shift
            ;;
        *) arguments+=("$1") ;;
        esac
        shift
    done
    need "${test_packages[@]}"
    configure "$preset"
    if "$fibers"; then
        cmake --build --preset "$preset" -j "$(cores)" --target test_pairs_steps ||
            fail "building failed"
        "build/$preset/bin/test_pairs_steps" --seeds "$seeds" "${arguments[@]}" ||
            fail "a pair (see above)"
        seeds=$(((seeds + 9) / 10))
    fi
    cmake --build --preset "$preset" -j "$(cores)" --target test_pairs || fail "building failed"
    with_fixed_addresses "build/$preset/bin/test_pairs" --seeds "$seeds" --quiet \
        "${arguments[@]}" || fail "a pair, by threads (see above)"
}
