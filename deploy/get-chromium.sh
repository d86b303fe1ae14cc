#!/bin/bash
# The browser tests need a Chromium; as root on Debian this installs one, elsewhere it says how.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Chromium for the browser tests …" >&2
  "$(dirname "$0")/apt-install.sh" chromium fonts-liberation
else
  echo "Chromium is missing: the browser tests will say so and fail (apt-get install chromium)" >&2
fi
