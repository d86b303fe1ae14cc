#!/bin/bash
# usage: apt-install.sh PACKAGE…  As root on Debian; waits while another install holds the locks.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
for attempt in $(seq 30); do
  # The lists have a lock of their own, for which apt-get does not wait.
  if apt-get update -qq; then break; fi
  [ "$attempt" -lt 30 ] || exit 1
  sleep 10
done
apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" >/dev/null
