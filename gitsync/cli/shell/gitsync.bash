# bash completion for gitsync: source <(gitsync completion bash)

_gitsync_complete() {
    # bash splits words at = and : as well; gitsync gets the line as it was typed.
    local line=${COMP_LINE:0:COMP_POINT} piece=${COMP_WORDS[COMP_CWORD]} answer
    [[ $line == *[[:space:]] ]] && piece=
    COMPREPLY=()
    while IFS= read -r answer; do
        case $answer in
            :files | :folders)
                local kind=-f path
                [[ $answer == :folders ]] && kind=-d
                [[ $piece == [=:] ]] && piece=
                compopt -o filenames 2>/dev/null
                while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$kind" -- "$piece")
                ;;
            *) COMPREPLY+=("$answer") ;;
        esac
    done < <(command gitsync __complete bash "$line" "$piece" </dev/null 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=,/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

complete -F _gitsync_complete gitsync
