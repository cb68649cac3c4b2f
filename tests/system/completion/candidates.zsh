#!/bin/zsh -f
# What zsh completes the last word of LINE to, one a line: an interactive zsh in a terminal of its
# own is given the line and a tab, and prints the additions to its list.
# Usage: candidates.zsh COMPLETION LINE, with a HOME of its own
zmodload zsh/zpty || exit 1
folder=$HOME/zsh # kept: the next call finds the dump of compinit
rm -f $folder/{ready,hits,end}
mkdir -p $folder/functions
cp $1 $folder/functions/_weir
cat >$folder/.zshrc <<'END'
PROMPT= fpath=($ZDOTDIR/functions $fpath)
autoload -Uz compinit
compinit -u -d $ZDOTDIR/dump
zstyle ':completion:*' completer _complete
compadd() {
    local -a hits
    local folder=${@[${@[(i)-p]}+1]} # before each path
    if [[ " $* " != *\ -[OAD]* ]]; then
        builtin compadd -O hits "$@"
        (($#hits)) && print -rl -- $folder$^hits >>$ZDOTDIR/hits
    fi
    builtin compadd "$@"
}
finish() { : >$ZDOTDIR/end; BUFFER=exit; zle accept-line }
zle -N finish
bindkey '^T' finish
: >$ZDOTDIR/ready
END
# Waits for the file, or for the end of the shell.
wait_for() {
    until [[ -e $1 ]]; do
        zselect -t 1
        zpty -r -t shell seen
        (($? != 2)) || exit 1
    done
}
zmodload zsh/zselect
zpty shell "ZDOTDIR=$folder exec zsh -d -i" || exit 1
wait_for $folder/ready
zpty -w -n shell "$2"$'\t\x14'
wait_for $folder/end
zpty -d shell
[[ ! -e $folder/hits ]] || cat $folder/hits
