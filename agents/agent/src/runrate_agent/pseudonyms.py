"""What a file that leaves the machine must not say: tokens never, names by others of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from runrate_agent.compat import SLOTS

UUID = re.compile(r"\b(GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ADDRESS = re.compile(r"\b(?!127\.)(?:\d{1,3}\.){3}\d{1,3}\b")
HOME = re.compile(r"(?<=/home/)[^/\s]+")
TOKEN = re.compile(r"\brr[a-z]?_[\w-]{4,}")
SHORTEST = 2
"""A name of one letter stands in any text."""


@dataclass(**SLOTS)
class FilePseudonyms:
    """The same name for the same thing throughout; `names` are replaced wherever they stand."""

    names: dict[str, str] = field(default_factory=dict)
    _given: dict[str, str] = field(default_factory=dict)

    def hide(self, kind: str, names: Iterable[str]) -> None:
        """Replace these from now on."""
        for name in names:
            if len(name) >= SHORTEST and name not in self.names:
                number = sum(1 for each in self.names.values() if each.startswith(kind)) + 1
                self.names[name] = f"{kind}-{number}"

    def cleaned(self, value: Any) -> Any:
        """The value without them, keys and all."""
        if isinstance(value, str):
            return self._cleaned_text(value)
        if isinstance(value, dict):
            return {self.cleaned(key): self.cleaned(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.cleaned(each) for each in value]
        return value

    def _cleaned_text(self, text: str) -> str:
        text = TOKEN.sub("token", text)
        for name in sorted(self.names, key=len, reverse=True):
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", self.names[name], text)
        text = UUID.sub(lambda found: self._numbered(found[0], found[1]), text)
        text = ADDRESS.sub(lambda found: self._numbered(found[0], "address"), text)
        return HOME.sub(lambda found: self._numbered(found[0], "user"), text)

    def _numbered(self, found: str, kind: str) -> str:
        known = self._given.get(found)
        if known is None:
            count = sum(1 for each in self._given.values() if each.startswith(f"{kind}-"))
            known = self._given[found] = f"{kind}-{count + 1}"
        return known
