"""What lies compressed beside a vendored script is that script."""

import gzip
from pathlib import Path

import brotli
import pytest

VENDORED = Path(__file__).resolve().parents[2] / "static" / "vendor"
SCRIPTS = sorted(VENDORED.glob("*/*.js"))


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
def test_the_compressed_forms_say_the_same(script):
    """Where this fails, run `.venv/bin/python deploy/compress_vendored.py`."""
    plain = script.read_bytes()
    assert brotli.decompress(script.with_name(script.name + ".br").read_bytes()) == plain
    assert gzip.decompress(script.with_name(script.name + ".gz").read_bytes()) == plain
