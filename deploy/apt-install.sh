#!/bin/bash
# usage: apt-install.sh [--once] PACKAGE…  As root on Debian; waits while another install holds the
# locks, and for the network too unless it is to be tried but once.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
attempts=30
if [ "$1" = --once ]; then attempts=1 && shift; fi
for attempt in $(seq "$attempts"); do
  # The lists have a lock of their own, for which apt-get does not wait.
  if apt-get update -qq; then break; fi
  [ "$attempt" -lt "$attempts" ] || exit 1
  sleep 10
done
apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" >/dev/null
