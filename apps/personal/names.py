"""Names of a person within texts and JSON documents, and what is written in their place."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any
from urllib.parse import quote, quote_plus

PLAIN_WORDS = frozenset(
    [
        "account",
        "admin",
        "agent",
        "alert",
        "all",
        "amber",
        "april",
        "art",
        "august",
        "autumn",
        "basil",
        "bill",
        "bob",
        "budget",
        "case",
        "charge",
        "charity",
        "chase",
        "cliff",
        "close",
        "cluster",
        "cost",
        "count",
        "daily",
        "dale",
        "day",
        "dawn",
        "day",
        "dean",
        "default",
        "drew",
        "earl",
        "faith",
        "frank",
        "free",
        "gene",
        "gpu",
        "grace",
        "grant",
        "guy",
        "hope",
        "hour",
        "house",
        "iris",
        "ivy",
        "jack",
        "january",
        "jay",
        "job",
        "joy",
        "june",
        "lance",
        "lily",
        "long",
        "love",
        "main",
        "mark",
        "max",
        "may",
        "mean",
        "merit",
        "mike",
        "min",
        "miles",
        "month",
        "national",
        "nick",
        "no",
        "node",
        "none",
        "open",
        "owned",
        "owner",
        "pat",
        "pearl",
        "penny",
        "pool",
        "price",
        "prince",
        "queen",
        "rate",
        "ray",
        "reserved",
        "rich",
        "rob",
        "rod",
        "root",
        "rose",
        "ruby",
        "run",
        "rusty",
        "ryan",
        "sage",
        "sandy",
        "serve",
        "service",
        "shared",
        "sky",
        "sonny",
        "spot",
        "star",
        "stone",
        "storm",
        "sue",
        "summer",
        "team",
        "test",
        "token",
        "trace",
        "train",
        "training",
        "unknown",
        "user",
        "violet",
        "wade",
        "ward",
        "week",
        "west",
        "will",
        "win",
        "wood",
        "worker",
        "year",
        "young",
    ]
)
"""Names that are words too: in the middle of a sentence one cannot be told from the other, so there they stay."""


class TakenNames:
    """Names that are taken out, each with what is written for it; the longest is looked for first.

    A name is found as a whole word, in whatever case it is written: `ada` is no word of `ada.smith`, none of `bob+ada`, and ends
    a sentence. One that is a PLAIN_WORD is found where it is all that is said, and in columns that hold nothing but names.
    """

    def __init__(self, written: Mapping[str, str]) -> None:
        quoted = {way(old): new for old, new in written.items() for way in (quote_plus, quote, str)}
        self._spelt = dict(sorted(quoted.items(), key=lambda pair: -len(pair[0])))
        self._by_folded = {old.casefold(): new for old, new in self._spelt.items()}

    @property
    def spellings(self) -> Collection[str]:
        """What is looked for: each name as it is, and as an address of a page has it."""
        return self._spelt.keys()

    def in_name(self, text: str) -> str:
        """A column of names, maybe with a word or two more: every name is meant as one."""
        return self._whole(text) or self._replaced(self._any_name, text)

    def in_text(self, text: str) -> str:
        """A text, or a value that may be a name by itself."""
        return self._whole(text) or self._replaced(self._any_rare_name, text)

    def in_json(self, value: Any) -> Any:
        """Every text within a document, keys too."""
        if isinstance(value, str):
            return self.in_text(value)
        if isinstance(value, Mapping):
            return {self.in_text(key): self.in_json(item) for key, item in value.items()}
        return [self.in_json(item) for item in value] if isinstance(value, list) else value

    @cached_property
    def _any_name(self) -> re.Pattern[str] | None:
        return _any_of(self._spelt)

    @cached_property
    def _any_rare_name(self) -> re.Pattern[str] | None:
        return _any_of(name for name in self._spelt if name.casefold() not in PLAIN_WORDS)

    def _whole(self, text: str) -> str | None:
        return self._by_folded.get(text.strip().casefold())

    def _replaced(self, pattern: re.Pattern[str] | None, text: str) -> str:
        if pattern is None:
            return text
        return pattern.sub(lambda found: self._written_for(found[0]), text)

    def _written_for(self, spelling: str) -> str:
        """What is written for a spelling that was found: of `İ` and `ı` a search makes an `i`, folding does not."""
        shown = self._by_folded.get(spelling.casefold())
        if shown is not None:
            return shown
        alike = re.compile(re.escape(spelling), re.IGNORECASE)
        return next(new for old, new in self._spelt.items() if alike.fullmatch(old))


def words_of(text: str) -> Iterator[str]:
    """What may be a name in a text: all of it, each word, and each two that follow one another."""
    yield text
    words = [word.rstrip(".") for word in re.findall(r"[\w.@+\\-]+", text)]
    yield from words
    for first, second in pairwise(words):
        yield f"{first} {second}"
    for word in words:
        if "\\" in word:
            yield word.rpartition("\\")[2]


def _any_of(names: Iterable[str]) -> re.Pattern[str] | None:
    found = "|".join(map(re.escape, names))
    if not found:
        return None
    return re.compile(rf"(?<![\w.@+-])(?:{found})(?![\w@-]|[.+]\w)", re.IGNORECASE)
