"""`python -m tests.contract.record [--all | OPERATION_ID…]`: REST's examples, as the world answers them.

Without a word, of those operations that answer in another shape than their file shows: what is of
another shape is replaced, the rest stays. Of all, or of those that are named, the whole answer is.
"""

import argparse
import sys
from pathlib import Path

import pytest


def main() -> int:
    """Pytest's own status: it makes the world."""
    parser = argparse.ArgumentParser(prog="python -m tests.contract.record", description=__doc__)
    parser.add_argument("operations", metavar="OPERATION_ID", nargs="*", help="of these")
    parser.add_argument("--all", action="store_true", dest="is_all", help="of every operation")
    asked = parser.parse_args()
    file = Path(__file__).with_name("recording.py")
    if asked.operations:
        what = [f"{file}::test_recorded_anew[{each}]" for each in asked.operations]
    else:
        what = [f"{file}::test_recorded_{'anew' if asked.is_all else 'where_it_differs'}"]
    return pytest.main(["-q", *what])


if __name__ == "__main__":
    sys.exit(main())
