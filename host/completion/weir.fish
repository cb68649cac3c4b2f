# Completion of the command weir for fish. The program says what a word can become: see
# host/command/command_complete.c.

# Folders, and files with one of the suffixes; any file without one.
function __weir_files
    for path in (complete -C"'' "(string escape -- (commandline -ct)))
        set -l file (string split -f1 \t -- $path)
        set -l suffix (string match -r '[^.]*$' -- $file)
        if string match -q '*/' -- $file; or not set -q argv[1]; or contains -- $suffix $argv
            echo $file
        end
    end
end

function __weir_complete
    set -l words (commandline -opc)
    for line in ($words[1] complete $words[2..] (commandline -ct) 2>/dev/null)
        switch $line
            case :folders
                __fish_complete_directories (commandline -ct) ''
            case ':files*'
                __weir_files (string split -n ' ' -- $line)[2..]
            case '*'
                echo $line
        end
    end
end

complete -c weir -f -a '(__weir_complete)'
