#!/bin/bash
# Goal: bash completes commands, options, files and plugins, as the program at hand has them.
# Method: the completion is called as bash calls it, in a folder with files of several kinds.
# Usage: completion.sh WEIR COMPLETION
set -uo pipefail # as an interactive shell, without -e
weir=$1
# shellcheck source=/dev/null
. "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir folder plugins
touch one.yaml two.yml three.txt plugins/mine.so
failures=0

# completes "WORD..." "EXPECTED...": what the last word becomes, in any order.
completes() {
    local found
    read -r -a COMP_WORDS <<<"$1"
    [[ $1 != *' ' ]] || COMP_WORDS+=("")
    COMP_WORDS=("$weir" "${COMP_WORDS[@]:1}")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _weir || true
    found=$(printf '%s\n' "${COMPREPLY[@]}" | sort | xargs)
    [[ $found == "$(tr ' ' '\n' <<<"$2" | sort | xargs)" ]] && return
    echo "FAILED: \"$1\" becomes \"$found\", not \"$2\""
    failures=$((failures + 1))
}

all=$("$weir" --help | sed -n '/^commands:/,/^$/p' | awk 'NR > 1 && NF { print $1 }' | xargs)
[[ $all == *run*check*plan*describe*new* ]] || all="none, says $weir --help"
completes 'weir ' "$all --help --version"
completes 'weir des' 'describe'
completes 'weir -' '--help --version'
completes 'weir plan --' '--control --from --help --output'
completes 'weir check --pl' '--plugin'
completes 'weir run ' 'one.yaml two.yml folder plugins'
completes 'weir plan --from o' 'one.yaml'
completes 'weir describe --plugins f' 'folder'
completes 'weir describe plugins/' 'plugins/mine.so'
completes 'weir new ' 'plugin'
completes 'weir new plugin ' ''
export WEIR_PLUGIN_PATH=$work/none:$work/plugins
completes 'weir describe mi' 'mine'
completes 'weir nosuch --' ''

[[ $(complete -p weir) == 'complete -F _weir weir' ]] || failures=$((failures + 1))
[[ $(shopt -p extglob) == 'shopt -u extglob' ]] || failures=$((failures + 1))
((failures == 0))
