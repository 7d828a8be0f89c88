#!/usr/bin/env bash
# Run gitsync in a job of GitHub Actions: COMMAND with the settings in the environment.
#
# Where SOURCE is not set, it reads the repository of the workflow by its URL. Nothing of a pull request is thus checked
# out, and no file of it is run. gitsync itself adds the report to the summary of the job, and its figures to the
# outputs of the step; this script adds `exit-code`, and `report`, `markdown` and `sarif`, which name what was written,
# and the `name` of a comment that is not that of a plan. Of `shards` these are `matrix` and `run-id`, of `site` it is `site`; `doctor` has none.
set -euo pipefail

case ${COMMAND:-} in
    plan | sync | validate | doctor) flags=() ;;
    rehearse)
        flags=()
        if [[ ${GITSYNC_FROM:-} == nothing ]]; then # a drill, whose flag is not a setting
            flags=(--from-nothing)
            unset GITSYNC_FROM
        fi
        ;;
    shards)
        flags=(--workers "${WORKERS:?Set the input workers of the action.}" --output github)
        # Jobs that are run again keep the outputs of this one, and so the pin. If all are, this job takes a new pin.
        export GITSYNC_RUN_ID=${GITSYNC_RUN_ID:-$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT}
        ;;
    report) flags=(--gather) ;;
    site) flags=(--out "${GITSYNC_REPORT:-$RUNNER_TEMP/gitsync-report}/site") ;;
    accept) # it makes commits from what is checked out
        flags=(--pull-request)
        export GITSYNC_SOURCE=${GITSYNC_SOURCE:-.}
        ;;
    *)
        echo "${COMMAND:-The empty word} is not a command of this action. Use plan, sync, validate, rehearse, accept, doctor, shards, report or site." >&2
        exit 2
        ;;
esac

if [[ -z ${GITSYNC_SOURCE:-} ]]; then
    export GITSYNC_SOURCE=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY
    if [[ -z ${GITSYNC_REF:-} && $COMMAND =~ ^(sync|shards)$ && $GITHUB_REF == refs/heads/* ]]; then
        export GITSYNC_REF=$GITHUB_REF_NAME # its newest commit: one that was merged since is not rolled back
    fi
    export GITSYNC_REF=${GITSYNC_REF:-$GITHUB_SHA}
fi
if [[ ${GITSYNC_FROM:-} == base ]]; then
    export GITSYNC_FROM=$GITHUB_SHA^ # the commit of a pull request is a merge, whose first parent is the base
fi

export GITSYNC_REPORT=${GITSYNC_REPORT:-$RUNNER_TEMP/gitsync-report}
rm -f -- "$GITSYNC_REPORT"/{report.{md,html,json,sarif,junit.xml,env},rehearse.{md,html,json}}

matrix=$RUNNER_TEMP/gitsync-matrix
exec 3>&1
if [[ $COMMAND == shards ]]; then
    exec 3>"$matrix"
fi

# A job that is cancelled interrupts this script alone, and is killed ten seconds later. gitsync gets the signal at once:
# it begins nothing new and writes its status. The signal also ends a wait, so the script waits again.
gitsync "$COMMAND" ${flags[@]+"${flags[@]}"} >&3 3>&- & # an empty array is an error in bash 3
trap 'kill -TERM "$!" 2>/dev/null || true' INT TERM
while
    code=0
    wait "$!" || code=$?
    kill -0 "$!" 2>/dev/null
do :; done

{
    echo "exit-code=$code"
    if [[ $COMMAND == shards ]]; then
        echo "matrix=$(<"$matrix")"
        echo "run-id=$GITSYNC_RUN_ID"
    elif [[ $COMMAND == doctor ]]; then
        : # it writes no report
    elif [[ $COMMAND == site ]]; then
        echo "site=$GITSYNC_REPORT/site"
    elif [[ $COMMAND == rehearse ]]; then
        echo "report=$GITSYNC_REPORT"
        echo "markdown=$GITSYNC_REPORT/rehearse.md"
        echo "name=rehearsal"
    else
        echo "report=$GITSYNC_REPORT"
        echo "markdown=$GITSYNC_REPORT/report.md"
    fi
    if [[ -e $GITSYNC_REPORT/report.sarif ]]; then
        echo "sarif=$GITSYNC_REPORT/report.sarif"
    fi
} >>"$GITHUB_OUTPUT"
exit "$code"
