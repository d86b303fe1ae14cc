"""Changes that are looked at before they are made: a form, what it would do, and the doing of it.

A form is bound once something was entered; what was only opened has nothing wrong in it. Confirming
looks again, and does nothing if what it would do is not what was shown.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from functools import wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.accounts.queries import Role
from apps.console.kit.frame import Choice, Frame, Link
from apps.console.kit.request import Context, View, request_context, shown_to
from apps.economics.hours import hour_of
from apps.economics.refusal import Refusal

LONGEST_TEXT = 200
SEEN = "seen"
MOVED = (
    "Since this was looked at, what it would change has changed: look again before it is confirmed."
)

Given = ParamSpec("Given")
Thought = TypeVar("Thought")


@dataclass(frozen=True, slots=True)
class Field:
    """One entry of a form with what was entered; `problem` says what is wrong with that.

    `kind` is the type of its input, or `select` with `choices`.
    """

    name: str
    label: str
    value: str
    kind: str = "text"
    problem: str = ""
    hint: str = ""
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangePage:
    """A change that somebody thinks of: `effects` say what it would do, `confirm` does it.

    Without `confirm` there is nothing to do yet; `cannot` says why the whole is refused. `seen`
    stands for the effects that are shown.
    """

    frame: Frame
    finding: str
    explanation: str
    back: Link
    here: str
    fields: tuple[Field, ...]
    effects: tuple[str, ...] = ()
    confirm: str = ""
    cannot: str = ""
    seen: str = ""


class TextField(forms.CharField):
    """A text of at most 200 characters; empty where nothing was entered, unless it is required."""

    kind = "text"

    def __init__(self, label: str, hint: str = "", *, initial: str = "", **kept: Any) -> None:
        super().__init__(
            label=label,
            help_text=hint,
            initial=initial,
            required=kept.pop("required", False),
            max_length=LONGEST_TEXT,
            error_messages={"max_length": f"Say it in at most {LONGEST_TEXT} characters."},
            **kept,
        )


class ParsedField(TextField):
    """A text that `meaning` reads; it refuses by a ValueError in a sentence."""

    def __init__(
        self, label: str, meaning: Callable[[str], Any], hint: str = "", *, initial: str = ""
    ) -> None:
        self.meaning = meaning
        super().__init__(label, hint, initial=initial)

    def clean(self, value: Any) -> Any:
        """What the text means."""
        text = super().clean(value)
        try:
            return self.meaning(text)
        except ValueError as problem:
            raise forms.ValidationError(str(problem)) from None


class PickField(ParsedField):
    """One of the choices; they are passed in where only the request knows them."""

    kind = "select"

    def __init__(
        self, label: str, picks: Mapping[str, str] | None = None, hint: str = "", initial: str = ""
    ) -> None:
        super().__init__(label, str, hint, initial=initial)
        self.offer(picks or {})

    def offer(self, picks: Mapping[str, str]) -> None:
        """Let one of these be chosen, and nothing else."""
        self.picks, self.meaning = picks, one_of(picks)


class MomentField(ParsedField):
    """A moment in the organisation's zone; without `is_needed` None where nothing was entered.

    With `is_now` it begins as the hour that has begun.
    """

    kind = "datetime-local"

    def __init__(
        self, label: str, hint: str = "", *, is_needed: bool = True, is_now: bool = False
    ) -> None:
        self.is_needed, self.is_now = is_needed, is_now
        super().__init__(label, moment(UTC), hint)

    def place(self, zone: ZoneInfo, at: datetime) -> None:
        """Read and begin in this zone, which the label names."""
        read, is_needed = moment(zone), self.is_needed
        self.meaning = lambda text: read(text) if text or is_needed else None
        self.label = f"{self.label} ({zone.key})"
        if self.is_now:
            self.initial = as_entered(hour_of(at), zone)


class AmountField(ParsedField):
    """An amount in figures; None where nothing was entered."""

    def __init__(self, label: str, hint: str = "", example: str = "1.25") -> None:
        super().__init__(label, amount_like(example), hint)


class WholeField(ParsedField):
    """A whole number from 0; None where nothing was entered."""

    def __init__(
        self, label: str, hint: str = "", *, example: str = "8", initial: str = ""
    ) -> None:
        super().__init__(label, whole_like(example), hint, initial=initial)


class ChangeForm(forms.Form):
    """The fields of a change; `picks` are the choices that only the request knows, by field."""

    def __init__(
        self,
        given: QueryDict,
        context: Context,
        picks: Mapping[str, Mapping[str, str]],
        initial: Mapping[str, str],
    ) -> None:
        super().__init__()
        for name, each in self.fields.items():
            if isinstance(each, MomentField):
                each.place(context.zone, context.at)
            if isinstance(each, PickField):
                each.offer(picks.get(name, each.picks))
            each.initial = initial.get(name, each.initial)
        if any(name in given for name in self.fields):
            self.is_bound = True
            self.data = {name: given.get(name, each.initial) for name, each in self.fields.items()}

    def refuse(self, refusal: Exception, fields: Mapping[str, str]) -> None:
        """Say at its field what an action said; a field that is not here is the first one's."""
        named = refusal.field if isinstance(refusal, Refusal) else ""
        name = fields.get(named, named.partition(".")[0])
        self.add_error(name if name in self.fields else next(iter(self.fields)), words_of(refusal))

    def frozen(self) -> tuple[Field, ...]:
        """The entries as the template takes them."""
        return tuple(_frozen(self[name], each) for name, each in self.fields.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Generic[Thought]):
    """A change of one kind: how its page reads, its form, and what comes of what was entered.

    `read` makes of the clean entries what is thought of, and may refuse it; `effects` say in
    sentences what it would do; `apply` does it and answers the words of success and where to go on
    (what `redirect` takes). `refusals` are said at the field that they name, or that `fields` name
    for it. `picks` and `initial` are choices and entries that only this request knows.
    """

    finding: str
    explanation: str
    back: Link
    form: type[ChangeForm]
    confirm: str
    read: Callable[[Mapping[str, Any]], Thought]
    apply: Callable[[Thought], tuple[str, tuple[Any, ...]]]
    effects: Callable[[Thought], Sequence[str]] = lambda _: ()
    refusals: tuple[type[Exception], ...] = (Refusal,)
    fields: Mapping[str, str] = field(default_factory=dict)
    picks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    initial: Mapping[str, str] = field(default_factory=dict)
    template: ClassVar[str] = "components/change_page.html"

    def answer(self, request: HttpRequest, context: Context) -> HttpResponse:
        """Show the form, or what it would do; do that once it is confirmed."""
        is_confirmed = request.method == "POST"
        given = request.POST if is_confirmed else request.GET
        form = self.form(given, context, self.picks, self.initial)
        effects, seen = self._previewed(form), ""
        if effects is not None:
            thought, said = effects
            seen = fingerprint(said)
            if is_confirmed and given.get(SEEN, seen) != seen:
                messages.warning(request, MOVED)
            elif is_confirmed and (done := self._applied(form, thought)) is not None:
                messages.success(request, done[0])
                return redirect(*done[1])
        is_ready = effects is not None and not form.errors
        page = ChangePage(
            frame=context.frame,
            finding=self.finding,
            explanation=self.explanation,
            back=self.back,
            here=request.path,
            fields=form.frozen(),
            effects=tuple(effects[1]) if effects is not None else (),
            confirm=self.confirm if is_ready else "",
            seen=seen,
        )
        return render(request, self.template, {"page": page})

    def _previewed(self, form: ChangeForm) -> tuple[Thought, Sequence[str]] | None:
        """What is thought of and what it would do; None where the entries do not say it."""
        if not form.is_valid():
            return None
        try:
            thought = self.read(form.cleaned_data)
            return thought, tuple(self.effects(thought))
        except self.refusals as refusal:
            form.refuse(refusal, self.fields)
            return None

    def _applied(self, form: ChangeForm, thought: Thought) -> tuple[str, tuple[Any, ...]] | None:
        try:
            return self.apply(thought)
        except self.refusals as refusal:
            form.refuse(refusal, self.fields)
            return None


def changing(
    roles: frozenset[Role], here: str
) -> Callable[[Callable[Concatenate[Context, Given], Change[Any]]], View[Given]]:
    """A change that people of these roles may make; looking at it is a GET, making it a POST."""

    def decorate(change: Callable[Concatenate[Context, Given], Change[Any]]) -> View[Given]:
        @require_http_methods(["GET", "HEAD", "POST"])
        @shown_to(roles)
        @wraps(change)
        def view(
            request: HttpRequest, /, *args: Given.args, **kwargs: Given.kwargs
        ) -> HttpResponseBase:
            context = request_context(request, here)
            return change(context, *args, **kwargs).answer(request, context)

        return view

    return decorate


def fingerprint(effects: Sequence[str]) -> str:
    """Stands for effects that were shown."""
    return hashlib.sha256("\n".join(effects).encode()).hexdigest()[:16]


def words_of(refusal: Exception) -> str:
    """What a refusal says, as it stands at a field."""
    if isinstance(refusal, Refusal):
        return refusal.sentence
    said = str(refusal)
    return f"{said[:1].upper()}{said[1:]}."


def moment(zone: tzinfo) -> Callable[[str], datetime]:
    """Reads a day or a time of it, of the organisation's zone where no offset is said."""

    def read(text: str) -> datetime:
        try:
            said = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError("Say a day and a time, as in 2026-03-31 14:00.") from None
        local = said.replace(tzinfo=zone) if said.tzinfo is None else said
        try:
            return local.astimezone(UTC)
        except OverflowError:
            raise ValueError("This is beyond the calendar.") from None

    return read


def one_of(choices: Mapping[str, str]) -> Callable[[str], str]:
    """Reads one of these keys."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError("Choose one of the list.")
        return text

    return read


def amount_like(example: str) -> Callable[[str], Decimal | None]:
    """Reads an amount in figures, as in `example`; None for an empty text."""

    def read(text: str) -> Decimal | None:
        try:
            amount = Decimal(text) if text else None
        except InvalidOperation:
            amount = Decimal("NaN")
        if amount is not None and not amount.is_finite():
            raise ValueError(f"Say an amount in figures, as in {example}.")
        return amount

    return read


def whole_like(example: str) -> Callable[[str], int | None]:
    """Reads a whole number from 0, as in `example`; None for an empty text."""

    def read(text: str) -> int | None:
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 14):
            raise ValueError(f"Say a whole number, as in {example}.")
        return int(text)

    return read


def as_entered(at: datetime, zone: tzinfo) -> str:
    """A moment as an input of type datetime-local takes it, to the minute."""
    return f"{at.astimezone(zone):%Y-%m-%dT%H:%M}"


def _frozen(bound: forms.BoundField, each: forms.Field) -> Field:
    entered = bound.value()
    value = "" if entered is None else str(entered).strip()
    picks = each.picks if isinstance(each, PickField) else {}
    return Field(
        name=bound.name,
        label=str(bound.label),
        value=value[:LONGEST_TEXT],
        kind=each.kind if isinstance(each, TextField) else "text",
        problem=" ".join(map(str, bound.errors)),
        hint=str(each.help_text),
        choices=tuple(Choice(key, text, key == value) for key, text in picks.items()),
    )
