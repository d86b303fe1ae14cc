#!/bin/bash
# Put uv into .uv/ with nothing but Python: from PyPI, in an environment of its own.
set -euo pipefail
version=$1
for python in python3.11 python3.12 python3.13 python3; do
  if command -v "$python" >/dev/null && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    break
  fi
  python=
done
[ -n "$python" ] || { echo "Python 3.11 or newer is needed (apt-get install python3)" >&2; exit 1; }
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  # Debian splits venv off into a package of its own.
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    "$(dirname "$0")/apt-install.sh" python3-venv
  else
    echo "Python's venv module is missing; as root: apt-get install python3-venv" >&2
    exit 1
  fi
fi
rm -rf .uv
"$python" -m venv .uv
.uv/bin/python -m pip install --quiet --disable-pip-version-check "uv==$version"
