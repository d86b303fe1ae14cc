"""Forms as templates take them: entries with what was entered, and the form around them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from apps.console.kit.frame import Choice, Link


@dataclass(frozen=True, slots=True)
class Field:
    """One entry of a form with what was entered; `problem` says what is wrong with that.

    `kind` is the type of its input; `select` is one of `choices`, `ticks` any of them; `lines` has so
    many `rows`; a `range` goes from `least` to `most`, and says where it is.
    """

    name: str
    label: str
    value: str
    kind: str = "text"
    problem: str = ""
    hint: str = ""
    choices: tuple[Choice, ...] = ()
    autocomplete: str = ""
    rows: int = 0
    least: str = ""
    most: str = ""
    said: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        """The values that were entered, as a form that hides the field sends them again."""
        if self.kind != "ticks":
            return (self.value,)
        return tuple(choice.value for choice in self.choices if choice.is_chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormSection:
    """A form on a page: `button` sends its entries to `action`.

    `name` is its anchor, and what ids of its entries begin with; `words` stand above them. With
    `swaps` it is sent as its entries change, and the parts of the page of these ids are drawn anew.
    """

    template: ClassVar[str] = "kit/form.html"
    name: str
    action: str
    button: str
    title: str = ""
    about: str = ""
    words: str = ""
    fields: Sequence[Field] = ()
    method: str = "post"
    is_primary: bool = False
    css: str = "card change"
    swaps: tuple[str, ...] = ()

    @property
    def has_file(self) -> bool:
        """Whether a file is sent with it."""
        return any(field.kind == "file" for field in self.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectList:
    """The effects that a change would have, in sentences, and the button that does it.

    `seen` stands for what is shown; `hidden` are the entries that it is of, `back` leaves it. Without
    `confirm` it has no button, and `remark` says whose it is to do.
    """

    template: ClassVar[str] = "kit/effects.html"
    effects: Sequence[str]
    hidden: Sequence[Field] = ()
    confirm: str = ""
    seen: str = ""
    here: str = ""
    back: Link
    title: str = "What will change"
    remark: str = ""
