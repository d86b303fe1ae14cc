"""Names of a person within texts and JSON documents, and what is written in their place."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from urllib.parse import quote, unquote_plus

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


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """The outcome for a stored file that was made before names were taken out."""

    name: str
    outcome: str


SPACE = r"(?:[\s\u200b\u2060\ufeff]|\+|%20|%C2%A0)+"
"""Between two words of a name: any spaces, without a break or of no width too, and what an address of a page has of one."""
APOSTROPHES = "'\u2019\u2018\u02bc\u201b\u2032\u00b4\u0060\uff07"
"""What is written for the one of `o'neil`: editors and phones put others in its place."""
_PLAIN_APOSTROPHE = str.maketrans(dict.fromkeys(APOSTROPHES, "'"))
SEPARATOR = "%(?:[01][0-9A-F]|2[0-9ACF]|3[A-F]|5[B-E]|60|7[B-E])"
"""What separates words in an address of a page that is a part of another: `user%3Dada`. Not `.`, `@`, `+`, `-` and `_`."""
SPACES = re.compile(r"[\s\u200b\u2060\ufeff]+")
MARKS = "\u0300-\u036f"
"""Accents that are letters of their own: what is followed by one is another letter."""


def folded_name(name: str) -> str:
    """Return what all spellings of a name have in common: in small letters, composed, with single spaces and plain apostrophes."""
    return folded_before(name.translate(_PLAIN_APOSTROPHE))


def folded_before(name: str) -> str:
    """Return the same but for apostrophes, as digests were made before those were alike."""
    composed = unicodedata.normalize("NFC", SPACES.sub(" ", name).strip())
    return unicodedata.normalize("NFC", composed.casefold())


class TakenNames:
    """Names that are taken out, each with what is written for it; the longest is looked for first.

    A name is found as a whole word however it is written: in any case, with accents as letters of their own or not, with any
    spaces, and as an address of a page has it. `ada` is no word of `ada.smith`, none of `bob+ada`, and ends
    a sentence. One that is a PLAIN_WORD is found where it is all that is said, and in columns that hold nothing but names.
    """

    def __init__(self, written: Mapping[str, str]) -> None:
        self._by_folded = {folded_name(old): new for old, new in written.items()}
        longest_first = sorted(self._by_folded, key=len, reverse=True)
        self._spelt = {name: _spelt(name) for name in longest_first}

    @property
    def like_patterns(self) -> list[str]:
        """Patterns of LIKE one of which every text has that names somebody; others may have them too."""
        return sorted({_like_pattern(name) for name in self._spelt})

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
        if isinstance(value, tuple):
            return tuple(self.in_json(item) for item in value)
        return [self.in_json(item) for item in value] if isinstance(value, list) else value

    def is_in(self, text: str) -> bool:
        """Whether a text names somebody, as a word of it or as all that it says."""
        return self._any_name is not None and self._any_name.search(text) is not None

    @cached_property
    def _any_name(self) -> re.Pattern[str] | None:
        return _any_of(self._spelt.values())

    @cached_property
    def _any_rare_name(self) -> re.Pattern[str] | None:
        return _any_of(spelt for name, spelt in self._spelt.items() if name not in PLAIN_WORDS)

    def _whole(self, text: str) -> str | None:
        return self._by_folded.get(folded_name(text))

    def _replaced(self, pattern: re.Pattern[str] | None, text: str) -> str:
        if pattern is None:
            return text
        return pattern.sub(lambda occurrence: self._written_for(occurrence[0]), text)

    def _written_for(self, spelling: str) -> str:
        """Return what is written for a spelling that was found: a search finds more of them than folding makes alike."""
        shown = self._by_folded.get(folded_name(spelling))
        if shown is not None:
            return shown
        name = next(
            name
            for name, spelt in self._spelt.items()
            if re.fullmatch(spelt, spelling, re.IGNORECASE)
        )
        return self._by_folded[name]


def words_of(text: str) -> Iterator[str]:
    """Yield what may be a name in a text: all of it, each word, each few that follow one another; of an address of a page, what it says."""
    yield text
    # An accent that is a letter of its own is none of a word.
    text = unicodedata.normalize("NFC", text)
    yield from _words_in(text)
    # An address may be a part of another.
    for _ in range(2):
        if "%" not in text and "+" not in text:
            return
        text = unicodedata.normalize("NFC", unquote_plus(text))
        yield from _words_in(text)


def _words_in(text: str) -> Iterator[str]:
    written = [word.strip(APOSTROPHES) for word in WORD.findall(text)]
    words = [word.rstrip(".") for word in written]
    yield from words
    for length in range(2, MOST_WORDS + 1):
        for start in range(len(words) - length + 1):
            # What is shortened within a name has its dot: `Grace M. Hopper`.
            yield " ".join(written[start : start + length]).rstrip(".")
    for word in words:
        if "\\" in word:
            yield word.rpartition("\\")[2]
        if not NO_APOSTROPHE.fullmatch(word):
            yield from NO_APOSTROPHE.findall(word)


MOST_WORDS = 4
"""So many words has a name that is found within a text which arrives."""
WORD = re.compile(rf"[\w.@+\\{APOSTROPHES}-]+")
NO_APOSTROPHE = re.compile(rf"[^{APOSTROPHES}]+")


def _clusters(name: str) -> list[str]:
    """The letters of a name, each with the accents that stand for themselves."""
    clusters: list[str] = []
    for letter in name:
        if clusters and unicodedata.combining(letter):
            clusters[-1] += letter
        else:
            clusters.append(letter)
    return clusters


def _spelt(name: str) -> str:
    """Return a pattern that finds a name however it is written, but for its case."""
    return "".join(spelt for spelt, _ in _parts_spelt(name))


def _parts_spelt(name: str) -> Iterator[tuple[str, str | None]]:
    """The parts of a name: what finds each, and its one letter where it has one that is written in one way."""
    clusters, place = _clusters(name), 0
    while place < len(clusters):
        for length in (3, 2):
            several = "".join(clusters[place : place + length])
            if len(several) == length and several in _letters_for():
                apart = "".join(map(_spelt_letter, several))
                ways = [
                    way for letter in _letters_for()[several] for way in (letter, quote(letter))
                ]
                yield f"(?:{apart}|{'|'.join(map(re.escape, ways))}{_shorter(several)})", None
                place += length
                break
        else:
            letter = clusters[place]
            yield _spelt_letter(letter), letter if letter.isascii() and letter.isalnum() else None
            place += 1


def _shorter(several: str) -> str:
    """Three letters of which two are one, as a way more: `ﬀi` beside `ﬃ`."""
    if len(several) < 3:
        return ""
    pairs = ((several[:2], "", several[2]), (several[1:], several[0], ""))
    ways = [
        f"{before}{way}{after}"
        for pair, before, after in pairs
        for letter in _letters_for().get(pair, ())
        for way in (letter, quote(letter))
    ]
    return "".join(f"|{re.escape(way)}" for way in ways)


@cache
def _letters_for() -> Mapping[str, tuple[str, ...]]:
    """The letters that are two or three where small and great ones are alike (Unicode's full folding): `ss` is `ß` and `ẞ`."""
    letters_by_folding: dict[str, list[str]] = {}
    for number in range(0x80, 0x10000):
        folded = chr(number).casefold()
        if len(folded) > 1 and not any(map(unicodedata.combining, folded)):
            letters_by_folding.setdefault(folded, []).append(chr(number))
    return {folded: tuple(letters) for folded, letters in letters_by_folding.items()}


def _spelt_letter(letter: str) -> str:
    if letter == " ":
        return SPACE
    cases = APOSTROPHES if letter == "'" else (letter, letter.upper())
    forms = {unicodedata.normalize(form, case) for case in cases for form in ("NFC", "NFD")}
    quoted = {quote(form, safe="") for form in forms}
    ways = sorted(forms | quoted, key=lambda way: (-len(way), way))
    if len(ways) == 2 and letter.isascii() and quote(letter, safe="") == letter:
        return re.escape(letter)
    return f"(?:{'|'.join(map(re.escape, ways))})"


def _like_pattern(name: str) -> str:
    """A name with anything in the place of what may be written in several ways."""
    letters = [letter or "%" for _, letter in _parts_spelt(name)]
    return re.sub("%+", "%", f"%{''.join(letters)}%")


def _any_of(spelt: Iterable[str]) -> re.Pattern[str] | None:
    alternatives = "|".join(spelt)
    if not alternatives:
        return None
    begins = rf"(?:(?<![\w.@+{MARKS}-])|(?<={SEPARATOR})|(?<=%25{SEPARATOR[1:]})|(?<=%C2%A0))"
    return re.compile(rf"{begins}(?:{alternatives})(?![\w@{MARKS}-]|[.+]\w)", re.IGNORECASE)
