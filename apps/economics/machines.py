"""Names that machines send: of what they may be made, and when two are of one machine."""

import re

MOST_NAME = 253
MARKUP = frozenset("<>")
ODD = "has markup or a character that is not seen"
MOST_SHOWN = 80
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def is_same_machine(one: str, other: str) -> bool:
    """Whether two names are of one machine; one of them may leave its domain out."""
    shorter, longer = sorted((one, other), key=len)
    return longer == shorter or longer.partition(".")[0] == shorter


def is_host_name(text: str) -> bool:
    """Whether a new node may be called so: letters, digits, dot, hyphen and underscore (RFC 1123)."""
    return len(text) <= MOST_NAME and HOST.fullmatch(text) is not None


def is_plain(text: str) -> bool:
    """Whether a text has no markup and no character that is not seen.

    Control and format characters (as U+202E, which turns the line around), private use, halves of
    surrogate pairs and separators other than the space are not seen.
    """
    return text.isprintable() and MARKUP.isdisjoint(text)


def name_fault(text: str, most: int = MOST_NAME) -> str:
    """Return why a text is no name of at most so many characters; empty where it is one."""
    if len(text) > most:
        return f"has {len(text):,} characters, more than {most:,}"
    return "" if is_plain(text) else f"{text[:MOST_SHOWN]!a} {ODD}"


def printable_text(text: str) -> str:
    """The text with a question mark for each character that is not seen; markup stays."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def plain(text: str) -> str:
    """The text with a question mark for each character that `is_plain` refuses."""
    if is_plain(text):
        return text
    return "".join(letter if is_plain(letter) else "?" for letter in text)
