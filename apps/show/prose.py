"""Prose that a page shows plainly and the documentation shows with links and marks: a sequence of parts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to another page of the documentation; on a page of the console they lead nowhere."""

    text: str
    target: str


@dataclass(frozen=True, slots=True)
class SeeAlso:
    """A link in brackets after what it explains; a page of the console leaves it out."""

    text: str
    target: str


@dataclass(frozen=True, slots=True)
class Code:
    """A name as it is typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Words that stand out, `mark` of markdown on both sides."""

    text: str
    mark: str = "*"


Part = str | Link | SeeAlso | Code | Emphasis
Prose = str | tuple[Part, ...]


def prose(*parts: Part) -> Prose:
    """Return the parts as one prose."""
    return parts


def plain_text(parts: Prose) -> str:
    """Return the words of the prose alone."""
    return "".join(map(_plain_part, (parts,) if isinstance(parts, str) else parts))


def markdown(parts: Prose) -> str:
    """Return the prose as markdown."""
    return "".join(map(_marked_part, (parts,) if isinstance(parts, str) else parts))


def _plain_part(part: Part) -> str:
    match part:
        case str():
            return part
        case SeeAlso():
            return ""
        case _:
            return part.text


def _marked_part(part: Part) -> str:
    match part:
        case str():
            return part
        case Link():
            return f"[{part.text}]({part.target})"
        case SeeAlso():
            return f" ([{part.text}]({part.target}))"
        case Code():
            return f"`{part.text}`"
        case Emphasis():
            return f"{part.mark}{part.text}{part.mark}"
