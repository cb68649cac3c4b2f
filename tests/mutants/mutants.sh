# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# ./dev mutants, of files of configuration or of the code. The script dev sources this file.

# Takes another seed each time, and prints it first.
mutants_of_files() {
    configure dev
    cmake --build --preset dev -j "$(cores)" --target test_host_verdict || fail "building failed"
    build/dev/bin/test_host_verdict --seed "$(date +%s)" --mutants 10000 "$@"
}

# A long run leaves the other CPUs to others.
mutants_of_code() {
    mkdir -p build
    cc -c tests/coverage/flush.c -o build/coverage.flush.o || fail "building failed (see above)"
    compile coverage
    with_fixed_addresses nice python3 tests/mutants/mutants.py "$@"
}

do_mutants() {
    need "${test_packages[@]}"
    if [[ ${1:-} == --code ]]; then
        mutants_of_code "${@:2}"
    else
        mutants_of_files "$@"
    fi
}
