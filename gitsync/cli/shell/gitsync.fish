# fish completion for gitsync: gitsync completion fish | source

function __gitsync_complete
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    set --local piece (commandline --current-token --cut-at-cursor)
    for line in (command gitsync __complete fish $words[2..] "$piece" </dev/null 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$piece"
            case :folders
                __fish_complete_directories "$piece"
            case '*'
                echo $line
        end
    end
end

complete --command gitsync --no-files --arguments '(__gitsync_complete)'
