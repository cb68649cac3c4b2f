# SPDX-License-Identifier: MIT
# Sourced by builder.sh and user.sh: takes commands out of a README, so that it is tried as it is.

fail() {
    echo "bareroot: FAILED: $*" >&2
    exit 1
}

# readme_blocks FILE HEADING: the lines of all ```sh blocks under the heading.
readme_blocks() {
    awk -v heading="$2" '
        /^#/ && !inside { under = ($0 == heading) }
        /^```/ { inside = !inside; shell = inside && $0 == "```sh"; next }
        under && shell { print }
    ' "$1"
}

# readme_packages FILE: the packages that it installs, one in a line; nothing when there are none.
readme_packages() {
    grep -hoE 'apt-get install [a-z0-9.+ -]+' "$1" | sed 's/^apt-get install //' | tr ' ' '\n' |
        sed '/^$/d; /^-/d' | sort -u
}

install_packages() {
    (($#)) || return 0
    echo "installing: $*"
    apt-get -o Acquire::Retries=3 install -y -qq --no-install-recommends "$@" >/root/apt.log 2>&1 ||
        fail "apt-get install $*: $(tail -n 20 /root/apt.log)"
}
