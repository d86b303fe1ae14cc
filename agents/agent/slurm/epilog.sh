#!/bin/sh
# Epilog=/etc/slurm/runrate-epilog.sh (slurm.conf)
"${RUNRATE_SLURM:-/opt/runrate-agent/slurm}/runrate-note.sh" end
exit 0
