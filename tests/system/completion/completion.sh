#!/bin/bash
# SPDX-License-Identifier: MIT
# Goal: bash, zsh and fish complete commands, options, files, plugins and the pools of a running
# host, as the program at hand has them.
# Method: the shell itself is asked what a line becomes, in a folder with files of several kinds,
# beside a host with pools and a source.
# Usage: completion.sh WEIR COMPLETION, whose name ends as that of the shell
set -euo pipefail
weir=$1 completion=$2 shell=${2##*.}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
host=
trap '[[ -z $host ]] || kill -KILL "$host" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
mkdir bin folder plugins home
ln -s "$weir" bin/weir
touch two.yml three.txt plugins/mine.so
export PATH="$work/bin:$PATH" HOME="$work/home" XDG_CONFIG_HOME="$work/home" TERM=dumb
unset WEIR_CONTROL WEIR_PLUGIN_PATH
cat >one.yaml <<'END'
version: 1
host: {control: home/socket}
sources:
  numbers: {use: gen.forever, to: work}
pools:
  work: {use: sink.null, size: 0}
  images:
    members:
      small: {use: sink.null, size: 1}
      large: {use: sink.null, size: 1}
END
failures=0

# becomes "LINE" "EXPECTED...": what its last word becomes, in any order.
becomes() {
    local found wanted
    found=$("$shell" "$here/candidates.$shell" "$completion" "$1" | sed 's,/$,,' |
        sort -u | xargs)
    wanted=$(tr ' ' '\n' <<<"$2" | sort -u | xargs)
    [[ $found == "$wanted" ]] && return
    echo "FAILED: $shell: \"$1\" becomes \"$found\", not \"$wanted\""
    failures=$((failures + 1))
}

# --- without a host

all=$("$weir" --help | sed -n '/^commands:/,/^$/p' | awk 'NR > 1 && NF { print $1 }' | xargs)
[[ $all == *run*check*plan*describe*new* ]] || all="none, says $weir --help"
becomes 'weir ' "$all"
becomes 'weir des' 'describe'
becomes 'weir --v' '--version'
becomes 'weir help des' 'describe'
becomes 'weir plan --f' '--from'
becomes 'weir status --' '--control --file --from --members --output --help'
becomes 'weir check --pl' '--plugin'
becomes 'weir run ' 'one.yaml two.yml bin folder home plugins'
becomes 'weir plan --from o' 'one.yaml'
becomes 'weir describe --plugins f' 'folder'
becomes 'weir describe plugins/' 'plugins/mine.so'
becomes 'weir check --plugin plugins/' 'plugins/mine.so'
becomes 'weir status -o ' 'text json'
becomes 'weir queue th' 'three.txt'
becomes 'weir queue three.txt de' 'dead delete'
becomes 'weir queue three.txt list --state ' 'ready later dead'
becomes 'weir new ' 'plugin config'
becomes 'weir new c' 'config'
becomes 'weir new config one' 'one.yaml'
becomes 'weir new config a.yaml exec.r' 'exec.run'
becomes 'weir new config a.yaml stdin.lines exec.r' 'exec.run'
becomes 'weir new plugin ' ''
WEIR_PLUGIN_PATH=$work/none:$work/plugins becomes 'weir describe mi' 'mine'
becomes 'weir nosuch --' ''
becomes 'weir scale --file one.yaml ' ''

# --- the pools of a host

"$weir" run one.yaml >home/log 2>&1 &
host=$!
mkfifo home/pipe
until grep -q 'event="started"' home/log; do
    kill -0 "$host" || { cat home/log; exit 1; }
    read -r -t 0.02 <>home/pipe || true
done
becomes 'weir scale --file one.yaml ' 'work images images/small images/large'
becomes 'weir scale -f one.yaml work ' 'auto'
becomes 'weir status --control home/socket im' 'images images/small images/large'
becomes 'weir inspect --file one.yaml ' 'work images images/small images/large numbers'
WEIR_CONTROL=$work/home/socket becomes 'weir pause w' 'work'
becomes 'weir pause --file one.yaml n' 'numbers'
kill -TERM "$host"
wait "$host" || true
host=
((failures == 0))
