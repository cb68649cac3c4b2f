# Completion of the command weir for bash. It asks `weir --help` and `weir COMMAND --help`, so it
# knows what the program at hand knows.

_weir_commands() {
    "$1" --help 2>/dev/null | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'
}

# The table of options of a command: a line `-f, --from OLD  help` each.
_weir_options() {
    "$1" "$2" --help 2>/dev/null | awk '/^options:/ { on = 1; next } /^$/ { on = 0 } on'
}

# What the option takes, such as FILE or DIR; nothing when it takes nothing.
_weir_argument() {
    _weir_options "$1" "$2" | awk -v option="$3" '
        { gsub(",", "") }
        ($1 == option || $2 == option) && $3 ~ /^[A-Z]+$/ { print $3 }'
}

# Names of plugins: in WEIR_PLUGIN_PATH, and where those that came with the program lie.
_weir_plugins() {
    local folder file program
    program=$(readlink -f -- "$(command -v -- "$1")")
    tr ':' '\n' <<<"${WEIR_PLUGIN_PATH-}:${program%/bin/*}/lib/weir/plugins" |
        while read -r folder; do
            for file in "$folder"/*.so; do
                [[ $folder && -f $file ]] && basename "$file" .so
            done
        done
    for file in "${program%/bin/*}"/lib/*/weir/plugins/*.so; do
        [[ -f $file ]] && basename "$file" .so
    done
}

# Folders to go into, and files that end as $2 says.
_weir_files() {
    compgen -f -X "!*.@($2)" -- "$1"
    compgen -d -- "$1"
}

_weir() {
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]} extglob
    extglob=$(shopt -p extglob)
    shopt -s extglob
    compopt -o filenames 2>/dev/null

    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(
            compgen -W "$(_weir_commands "$program") --help --version" -- "$word")
    elif [[ $(_weir_argument "$program" "$command" "$before") == DIR ]]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(
            compgen -W "$(_weir_options "$program" "$command" | grep -oE -- '--[a-z-]+')" -- "$word")
    elif [[ $command == new ]]; then
        ((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W plugin -- "$word")
    elif [[ $command == describe || $before == --plugin ]]; then
        mapfile -t COMPREPLY < <(
            compgen -W "$(_weir_plugins "$program")" -- "$word"
            _weir_files "$word" so)
    else
        mapfile -t COMPREPLY < <(_weir_files "$word" 'yaml|yml')
    fi
    $extglob
}

complete -F _weir weir
