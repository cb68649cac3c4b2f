# Completion of the command weir for bash. The program says what a word can become: see
# host/command/command_complete.c.

# _weir_files WORD SUFFIX...: folders, and files with one of the suffixes; any file without one.
_weir_files() {
    local word=$1 file
    shift
    while IFS= read -r file; do
        if [[ -d $file || $# == 0 || " $* " == *" ${file##*.} "* ]]; then
            printf '%s\n' "$file"
        fi
    done < <(compgen -f -- "$word")
}

_weir() {
    local word=${COMP_WORDS[COMP_CWORD]} line
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :folders)
            compopt -o filenames 2>/dev/null
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$word")
            ;;
        :files*)
            compopt -o filenames 2>/dev/null
            # shellcheck disable=SC2086 # the suffixes are words
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(_weir_files "$word" ${line#:files})
            ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}

complete -F _weir weir
