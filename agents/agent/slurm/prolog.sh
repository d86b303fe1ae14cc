#!/bin/sh
# Prolog=/etc/slurm/runrate-prolog.sh (slurm.conf)
"${RUNRATE_SLURM:-/opt/runrate-agent/slurm}/runrate-note.sh" start
exit 0
