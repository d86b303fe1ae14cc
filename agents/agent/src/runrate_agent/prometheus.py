"""Prometheus text taken apart: names, labels and numbers, line by line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

LINE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
LABEL = re.compile(r'([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"')
ESCAPED = re.compile(r"\\(.)")


def samples_in(text: str, named: re.Pattern[str]) -> Iterator[tuple[str, dict[str, str], float]]:
    """Name, labels and value of each sample whose name matches; what is no finite number is left
    out."""
    for line in text.splitlines():
        if named.match(line) is None or (found := LINE.match(line)) is None:
            continue
        try:
            value = float(found[3])
        except ValueError:
            continue
        if math.isfinite(value):
            yield found[1], labels_in(found[2] or ""), value


def labels_in(text: str) -> dict[str, str]:
    """What stands between the braces."""
    return {name: ESCAPED.sub(_unescaped, value) for name, value in LABEL.findall(text)}


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]
