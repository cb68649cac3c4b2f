#!/bin/bash
# SPDX-License-Identifier: MIT
# ./dev faults, which sources this file and has its functions.

do_faults() {
    need "${test_packages[@]}"
    compile dev
    PYTHONDONTWRITEBYTECODE=1 python3 tests/system/faults/faults.py build/dev "$@" ||
        fail "a call that fails does harm (see above)"
}
