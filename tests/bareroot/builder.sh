#!/bin/bash
# SPDX-License-Identifier: MIT
# In the first bare root: what README.md says under "Into a folder of your own", beginning with the
# tree and nothing else. See bareroot.sh.
set -euo pipefail
. /root/readme.sh
cd /root/weir

apt-get update -qq || fail "no mirror can be reached"
commands=$(readme_blocks README.md '### Into a folder of your own' | grep -v '^apt-get')
[[ $commands == *"./dev build"*"cmake --install"*"--prefix /opt/weir"* ]] ||
    fail "README.md says something else about a folder of your own: $commands"
[[ ! -e /opt/weir ]] || fail "/opt/weir is there already"
bash -euxc "$commands" >/root/build.log 2>&1 || fail "$(tail -n 40 /root/build.log)"
! grep -F 'warning:' /root/build.log || fail "the compiler warns, which is the first that one sees"
[[ -x /opt/weir/bin/weir ]] || fail "no /opt/weir/bin/weir"
echo "builder: installed $(find /opt/weir -type f | wc -l) files"
