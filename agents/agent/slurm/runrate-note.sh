#!/bin/sh
# Leaves a note of a job for the agent: `runrate-note.sh start` in the prolog, `runrate-note.sh end` in the epilog.
# It writes one small file and asks nobody: no network, no scheduler. Whatever goes wrong it ends with 0, for any other
# status of a prolog drains the node.
what=$1
folder=${RUNRATE_NOTES:-/run/runrate/slurm}
[ -n "$SLURM_JOB_ID" ] || exit 0
if [ ! -d "$folder" ]; then
    mkdir -p "$folder" 2>/dev/null || exit 0
    # Whose /run/runrate is, the agent's, may take away the notes that it has read.
    chown --reference="$(dirname "$folder")" "$folder" 2>/dev/null
fi
# Of a folder that is not root's nothing that lies there already is written to.
set -C
# An attempt after a requeue has the id of the one before; at its end Slurm has counted the next one already, so the end
# takes the name of the start that has none yet.
key="$SLURM_JOB_ID-${SLURM_JOB_RESTART_COUNT:-${SLURM_RESTART_COUNT:-0}}"
if [ "$what" = end ]; then
    for begun in "$folder/$SLURM_JOB_ID-"*.start; do
        open=$(basename "$begun" .start)
        [ -e "$begun" ] && [ ! -e "$folder/$open.end" ] && key=$open
    done
fi
draft="$folder/.$key.$what.$$"
{
    echo "RUNRATE_AT=$(date +%s.%3N)"
    for name in SLURM_JOB_ID SLURM_JOB_GPUS SLURM_JOB_USER SLURM_JOB_ACCOUNT SLURM_JOB_PARTITION SLURM_JOB_NAME \
        SLURM_CPUS_ON_NODE SLURM_JOB_RESTART_COUNT SLURM_RESTART_COUNT SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID \
        SLURM_HET_JOB_ID SLURM_JOB_EXIT_CODE SLURM_JOB_EXIT_CODE2 SLURM_CLUSTER_NAME SLURM_JOB_UID; do
        eval "value=\${$name-}"
        [ -n "$value" ] && printf '%s=%s\n' "$name" "$value" | tr -d '\r' | head -n 1
    done
    :
} >"$draft" 2>/dev/null && mv -f "$draft" "$folder/$key.$what" 2>/dev/null || rm -f "$draft" 2>/dev/null
exit 0
