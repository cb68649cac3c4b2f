#!/bin/bash
# SPDX-License-Identifier: MIT
# ./dev pairs, which sources this file and has its functions.

# In fibers, then by threads with a tenth of the seeds.
do_pairs() {
    local preset=dev fibers=true seeds=200 arguments=()
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
