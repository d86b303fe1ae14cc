#!/bin/bash
# The tests of a real Slurm need one, with Lua for job submission and a database for its accounting; as root on Debian
# this installs it, elsewhere it says how.
set -euo pipefail
packages=(slurm-wlm slurm-client slurm-wlm-basic-plugins slurmdbd mariadb-server munge gcc libc6-dev)
is_missing=0
for program in slurmctld slurmd munged slurmdbd mariadbd; do command -v "$program" >/dev/null || is_missing=1; done
if [ "$is_missing" = 0 ]; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Slurm for its tests …" >&2
  "$(dirname "$0")/apt-install.sh" "${packages[@]}"
else
  echo "Slurm is missing: its tests will say so and fail (apt-get install ${packages[*]})" >&2
fi
