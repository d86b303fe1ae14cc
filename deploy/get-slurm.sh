#!/bin/bash
# The test of a real Slurm needs one; as root on Debian this installs it, elsewhere it says how.
set -euo pipefail
if command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Slurm for its test …" >&2
  "$(dirname "$0")/apt-install.sh" slurm-wlm slurm-client munge gcc libc6-dev
else
  echo "Slurm is missing: its test will say so and fail (apt-get install slurm-wlm munge gcc)" >&2
fi
