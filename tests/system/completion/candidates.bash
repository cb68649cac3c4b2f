#!/bin/bash
# What bash completes the last word of LINE to, one a line, called as bash calls it.
# Usage: candidates.bash COMPLETION LINE
set -uo pipefail # as an interactive shell, without -e
# shellcheck source=/dev/null
. "$1"
[[ $(complete -p weir) == 'complete -F _weir weir' ]] || exit 1
read -r -a COMP_WORDS <<<"$2"
[[ $2 != *' ' ]] || COMP_WORDS+=("")
# shellcheck disable=SC2034 # the completion reads it
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMPREPLY=()
_weir
printf '%s\n' "${COMPREPLY[@]}"
