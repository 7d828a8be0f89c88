# bash completion for gitsync: source <(gitsync completion bash)

_gitsync_complete() {
    # bash splits words at = and : as well; gitsync gets the line as it was typed.
    local line=${COMP_LINE:0:COMP_POINT} piece=${COMP_WORDS[COMP_CWORD]} values value
    [[ ${line: -1} == [[:space:]] ]] && piece=
    mapfile -t values < <(command gitsync __complete bash "$line" "$piece" 2>/dev/null)
    COMPREPLY=()
    for value in "${values[@]}"; do
        case $value in
            :files) compopt -o filenames && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$piece") ;;
            :folders) compopt -o filenames && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$piece") ;;
            *) COMPREPLY+=("$value") ;;
        esac
    done
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=,/] ]] && compopt -o nospace
    return 0
}

complete -F _gitsync_complete gitsync
