"""Write the .br and .gz beside every vendored script, which the web server sends as they are.

Run it after a version changed: `.venv/bin/python deploy/compress_vendored.py`.
"""

import gzip
from pathlib import Path

import brotli  # type: ignore[import-untyped]  # it has no stubs

VENDORED = Path(__file__).resolve().parent.parent / "static" / "vendor"


def main() -> None:
    """The same bytes in give the same bytes out: no time is kept in them."""
    for script in sorted(VENDORED.glob("*/*.js")):
        plain = script.read_bytes()
        script.with_name(script.name + ".br").write_bytes(brotli.compress(plain, quality=11))
        script.with_name(script.name + ".gz").write_bytes(gzip.compress(plain, 9, mtime=0))


if __name__ == "__main__":
    main()
