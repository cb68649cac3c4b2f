# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# ./dev coverage. The script dev sources this file.

# Without assertions, and without the check of the order of locks: no test takes their branches. A
# process that is killed by one that is not ours leaves no counts. The calls of exec keep their
# names: gcc's own versions write the counts of a parent once only, where parent and child share
# memory.
do_coverage() {
    need "${test_packages[@]}" gcovr
    mkdir -p build
    cc -c tests/coverage/flush.c -o build/coverage.flush.o || fail "building failed (see above)"
    compile coverage
    find build/coverage -name '*.gcda' -delete
    local failed="some tests failed, as tests of speed or symbols do here; what they ran counts"
    ctest --preset coverage -j "$(cores)" || say "$failed"
    if [[ ${1:-} == --all ]]; then
        (GCOV_ERROR_FILE=/dev/null servers_of coverage) || say "$failed"
    fi
    mkdir -p build/coverage/html
    gcovr --root . --object-directory build/coverage \
        --filter '(sdk|wire|core|config|host|plugins)/' --exclude-unreachable-branches \
        --exclude 'core/base/lock_order\.c' \
        --exclude-directories '.*/CMakeFiles/[0-9.]*/' \
        --exclude-branches-by-pattern '^\s*assert\(.*' --gcov-ignore-parse-errors \
        -j "$(cores)" --html-details build/coverage/html/index.html \
        --json-summary build/coverage/summary.json >build/coverage/gcovr.log 2>&1 ||
        fail "gcovr: $(<build/coverage/gcovr.log)"
    python3 tests/coverage/coverage.py build/coverage/summary.json
    say "each line: build/coverage/html/index.html"
}
