#!/usr/bin/fish --no-config
# What fish completes the last word of LINE to, one a line.
# Usage: candidates.fish COMPLETION LINE
source $argv[1]
complete -C "$argv[2]" | string split -f1 \t
exit 0
