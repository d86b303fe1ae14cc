#!/bin/bash
# The browser tests need a Chromium; as root on Debian this installs one, elsewhere it says how.
# Debian's headless shell opens a page in a third of the time, so it is added where it is missing.
set -euo pipefail
here=$(dirname "$0")
has_chromium=
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then has_chromium=yes; fi
done
if [ "$has_chromium" ] && command -v chromium-headless-shell >/dev/null; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Chromium for the browser tests …" >&2
  if [ ! "$has_chromium" ]; then "$here/apt-install.sh" chromium fonts-liberation; fi
  # Other distributions have none, and a machine without network keeps what it has.
  "$here/apt-install.sh" --once chromium-headless-shell >/dev/null 2>&1 ||
    echo "There is no headless shell; Chromium itself will do" >&2
elif [ ! "$has_chromium" ]; then
  echo "Chromium is missing: the browser tests will say so and fail (apt-get install chromium)" >&2
fi
