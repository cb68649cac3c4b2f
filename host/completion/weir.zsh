#compdef weir
# Completion of the command weir for zsh. The program says what a word can become: see
# host/command/command_complete.c.

_weir() {
    local line
    local -a found suffixes
    for line in ${(f)"$(${(Q)words[1]} complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)"}; do
        case $line in
        :folders) _files -/ ;;
        :files*)
            suffixes=(${=line#:files})
            if (($#suffixes)); then
                suffixes=(\*.$^suffixes)
                _files -g "$suffixes"
            else
                _files
            fi
            ;;
        *) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    (($#found)) && _describe weir found
}

_weir "$@"
