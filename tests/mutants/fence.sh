#!/bin/bash
# SPDX-License-Identifier: MIT
# fence.sh TREE COMMAND [ARG...]: runs a command that cannot signal a process outside, and can write
# below TREE, /tmp, /var/tmp and /dev alone: a mutant may call kill(-1), or remove a wrong file.
# Exit code 99: this machine makes no fence, and nothing was run.
set -euo pipefail
tree=$1
shift
spaces=(--pid --fork --kill-child --mount-proc)
((EUID == 0)) || spaces+=(--user --map-current-user)
unshare "${spaces[@]}" true 2>/dev/null || {
    echo "fence: no name spaces of processes and mounts here" >&2
    exit 99
}
# The inner shell has the positional parameters.
# shellcheck disable=SC2016
exec unshare "${spaces[@]}" bash -c '
    for folder in /tmp /var/tmp "$0"; do mount --bind "$folder" "$folder" || exit 99; done
    mount -o remount,bind,ro / || exit 99
    exec "$@"' "$tree" "$@"
