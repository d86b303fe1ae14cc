#!/bin/bash
# Put the FOCUS Foundation's validator into .focus-validator/, in an environment of its own: it needs
# Python 3.12 and libraries that ours must not have. Without it its test says so and is skipped.
set -euo pipefail
version=2.2.1
home=.focus-validator
[ -x "$home/bin/focus-validator" ] && [ "$(cat "$home/.version" 2>/dev/null)" = "$version" ] && exit 0
uv=${UV:-.uv/bin/uv}
is_new() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; }
python=
for each in python3.12 python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23]*/bin/python3 python3; do
  if is_new "$each"; then
    python=$each
    break
  fi
done
[ -n "$python" ] || python=3.12 # uv may fetch one itself
rm -rf "$home"
overrides=$(mktemp)
trap 'rm -f "$overrides"' EXIT
# Its own pin is older than what its pyarrow asks for.
echo "numpy>=2" >"$overrides"
if "$uv" venv --quiet --python "$python" "$home" &&
  "$uv" pip install --quiet --python "$home/bin/python" --override "$overrides" "focus-validator==$version"; then
  echo "$version" >"$home/.version"
else
  rm -rf "$home"
  echo "The FOCUS validator cannot be had here (it needs Python 3.12 and PyPI): its test is skipped" >&2
fi
