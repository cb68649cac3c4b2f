# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Waits of the system tests; they source this file.
#
# No outcome of a passing test depends on the limit. Without WEIR_TEST_WAIT_LIMIT_MS a wait has no
# limit, and the test's own time-out ends it. `./dev promises` sets the limit, so that the test of a
# broken promise soon says what it waited for.
wait_limit_s=$(((${WEIR_TEST_WAIT_LIMIT_MS:-0} + 999) / 1000))
exec {wait_pipe}<> <(:)

# wait_more BEGAN WHAT: pauses between two checks of a wait that began when SECONDS was BEGAN. Past
# the limit it calls the test's `fail` and ends the test.
wait_more() {
    if ((wait_limit_s > 0 && SECONDS - $1 > wait_limit_s)); then
        fail "this wait has no end: $2"
        exit 1
    fi
    read -r -t 0.02 -u "$wait_pipe"
    return 0
}
