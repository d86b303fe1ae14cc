"""Changes that are looked at before they are made: a form, what it would do, and the doing of it;
and forms that stand on a page and are done as they are sent.

A form is bound once something was entered; what was only opened has nothing wrong in it. Confirming
looks again, and does nothing unless what it would do is what was shown.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Self, TypeAlias, TypeVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.queries import Role
from apps.console.kit.csv_file import for_csv
from apps.console.kit.entries import MomentField, PasswordField, PickField, SliderField, TicksField
from apps.console.kit.form import EffectList, Field, FormSection
from apps.console.kit.frame import Choice, EmptyState, Link
from apps.console.kit.page import PAGES, ConsolePage, Section, answered
from apps.console.kit.request import Context, View, request_context, shown_to
from apps.console.kit.table import TableSection
from apps.economics.refusal import Refusal

LOOK = "look"
"""Sent with a form that is looked at: without a tick its address may have nothing else."""
SEEN, TO = "seen", "back_to"
RETURNS = {
    "first-day": "Back to the first day",
    "setup": "Back to Setup",
    "overview": "Back to the overview",
    "prices": "Back to prices",
    "join-tokens": "Back to join tokens",
    "owned-hardware": "Back to hardware of your own",
}
"""Pages that send somebody to a change with `back_to=` their name, where the change then leads back."""
MOVED = (
    "Since this was looked at, what it would change has changed: look again before it is confirmed."
)
UNSEEN = "Nothing is done that was not looked at first: this is what it would change."

Given = ParamSpec("Given")
Thought = TypeVar("Thought")
Done: TypeAlias = tuple[str, tuple[Any, ...]]
"""The words of success, and where to go on: what `redirect` takes."""


class ChangeForm(forms.Form):
    """The fields of a change; `picks` are the choices that only the request knows, by field.

    It is bound where one of its fields was entered, or `is_sent`, and where it has none; with
    `reading_options` only where one of these was, and the address but fills in the others. A bound form
    has no tick but those that were sent; one not bound has its initial ones. `more` are
    fields that only the request knows, after those of the class. `{currency}` in a label is the
    organisation's.
    """

    asked_by: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        params: QueryDict,
        context: Context,
        picks: Mapping[str, Mapping[str, str]] | None = None,
        initial: Mapping[str, Any] | None = None,
        more: Mapping[str, forms.Field] | None = None,
        *,
        is_sent: bool = False,
    ) -> None:
        super().__init__()
        self.fields.update(more or {})
        for name, entry in self.fields.items():
            if isinstance(entry, MomentField):
                entry.place(context.zone, context.at)
            if isinstance(entry, PickField | TicksField):
                entry.offer((picks or {}).get(name, entry.picks))
            entry.initial = (initial or {}).get(name, entry.initial)
            entry.label = str(entry.label).replace("{currency}", context.currency)
        asking = self.asked_by or (*self.fields, LOOK)
        is_bound = is_sent or not self.fields or any(name in params for name in asking)
        entered = {
            name: params.get(name, entry.initial)
            if not isinstance(entry, TicksField)
            else params.getlist(name)
            if is_bound or name in params
            else list(entry.initial or ())
            for name, entry in self.fields.items()
        }
        self.is_bound, self.initial = is_bound, entered
        if self.is_bound:
            self.data, self.files = entered, context.files

    def refuse(self, refusal: Exception, fields: Mapping[str, str]) -> None:
        """Say at its field what an action said; what is of no field here is of the whole form."""
        named = refusal.field if isinstance(refusal, Refusal) else ""
        name = fields.get(named, named.partition(".")[0])
        self.add_error(name if name in self.fields else None, words_of(refusal))

    @classmethod
    def opened(cls, sent: "ChangeForm | None", context: Context, **options: Any) -> Self:
        """The form as a page shows it: what was sent of this kind, or one with nothing entered."""
        return sent if isinstance(sent, cls) else cls(QueryDict(), context, **options)

    def section(self, name: str, action: str, button: str, **options: Any) -> FormSection:
        """Where it stands on a page; `options` may hold whatever else a FormSection has."""
        return FormSection(
            name=name,
            action=action,
            button=button,
            fields=(*self.frozen(), *([_hidden(LOOK, "yes")] * (options.get("method") == "get"))),
            **options,
        )

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems of the form as a whole, which its page says above everything."""
        return tuple(map(str, self.non_field_errors()))

    def frozen(self) -> tuple[Field, ...]:
        """The entries as the template takes them, each whole: what is too long is refused, not cut."""
        return frozen_fields(self)


@dataclass(frozen=True, slots=True)
class ChangePreview:
    """A preview of what a change would do: `effects` in sentences, `sections` with more of it, and `finding` as a title.

    `same` is what must still be so when it is confirmed, where the figures grow meanwhile; else all
    that is shown.
    """

    effects: Sequence[str]
    sections: Sequence[Section] = ()
    finding: str = ""
    same: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Generic[Thought]):
    """A change of one kind: how its page reads, its form, and what comes of what was entered.

    `read` makes of the clean entries what is thought of, and may refuse it; `effects` say in
    sentences what it would do, or in a preview that has tables; `apply` does it, and may answer the
    page that shows what was made in place of where to go on. `refusals` are
    said at the field that they name, or that `fields` name for it. `picks`, `initial` and `more` are choices, entries
    and fields that only this request knows. With `empty` set there is nothing to change, and nothing is done.
    Where `is_long`, what is entered has no room in an address: it is looked at by a POST too.
    """

    finding: str
    explanation: str
    back: Link
    form: type[ChangeForm]
    confirm: str
    read: Callable[[Mapping[str, Any]], Thought]
    apply: Callable[[Thought], Done | ConsolePage]
    effects: Callable[[Thought], Sequence[str] | ChangePreview] = lambda _: ()
    refusals: tuple[type[Exception], ...] = (Refusal,)
    fields: Mapping[str, str] = field(default_factory=dict)
    picks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    initial: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, forms.Field] = field(default_factory=dict)
    look: str = "See what will change"
    empty: EmptyState | None = None
    is_long: bool = False

    def answer(self, request: HttpRequest, context: Context) -> HttpResponse:
        """Show the form, or what it would do; do that once it is confirmed."""
        is_sent = request.method == "POST"
        params = request.POST if is_sent else request.GET
        # A table as CSV is of what the change would do, also where nothing was entered yet.
        is_entered = is_sent or context.csv_table is not None
        form = self.form(params, context, self.picks, self.initial, self.more, is_sent=is_entered)
        checked = self._looked_at(form)
        digest = fingerprint(form.frozen(), checked[1]) if checked is not None else ""
        status, to = 400 if is_sent else 200, params.get(TO, "")
        if is_sent and self.empty is not None:
            status = 409
        elif self.is_long and LOOK in params and SEEN not in params:
            status = 200 if checked is not None else 400
        elif is_sent and checked is not None:
            if params.get(SEEN) != digest:
                messages.warning(request, MOVED if SEEN in params else UNSEEN)
                status = 409
            elif (done := self._applied(form, checked[0])) is not None:
                return done_answer(request, done, to if to in RETURNS else "")
        page = self._page(form, checked[1] if checked is not None else None, digest, context, to)
        return answered(request, page, status)

    def _looked_at(self, form: ChangeForm) -> tuple[Thought, ChangePreview] | None:
        """Return the change that is entered and what it would do; None where the entries do not say it."""
        if not form.is_valid():
            return None
        try:
            thought = self.read(form.cleaned_data)
            effects = self.effects(thought)
        except self.refusals as refusal:
            form.refuse(refusal, self.fields)
            return None
        if isinstance(effects, ChangePreview):
            return thought, effects
        return thought, ChangePreview(tuple(effects))

    def _applied(self, form: ChangeForm, thought: Thought) -> Done | ConsolePage | None:
        try:
            return self.apply(thought)
        except self.refusals as refusal:
            form.refuse(refusal, self.fields)
            return None

    def _page(
        self,
        form: ChangeForm,
        preview: ChangePreview | None,
        digest: str,
        context: Context,
        to: str,
    ) -> ConsolePage:
        fields, path = form.frozen(), context.path
        back = Link(RETURNS[to], reverse(to)) if to in RETURNS else self.back
        carried = (_hidden(TO, to),) if to in RETURNS else ()
        sections: list[Section] = []
        if preview is not None:
            if not form.errors:
                sections.append(
                    EffectList(
                        effects=preview.effects,
                        hidden=(*fields, *carried),
                        confirm=self.confirm,
                        seen=digest,
                        here=path,
                        back=back,
                    )
                )
            sections.extend(preview.sections)
        if fields:
            is_first = preview is None
            method = "post" if self.is_long else "get"
            section = form.section("field", path, self.look, method=method, is_primary=is_first)
            look_fields = (_hidden(LOOK, "yes"),) if self.is_long else ()
            sections.append(replace(section, fields=(*section.fields, *look_fields, *carried)))
        return ConsolePage(
            context=context,
            finding=(preview.finding if preview is not None else "") or self.finding,
            under=(self.explanation,),
            back=back,
            problems=form.problems,
            sections=tuple(sections),
            empty=self.empty,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A form that stands on a page and is done as soon as it is sent.

    `apply` does what was entered, and may answer the page that shows what was made in place of where to go on; `page`
    draws the page with what is wrong at fields of the form; what is wrong with it as a whole is said above. `refusals`
    and `fields` are those of a Change; `status` is the answer's where one of them came.
    """

    form: ChangeForm
    apply: Callable[[Mapping[str, Any]], Done | ConsolePage]
    page: Callable[[ChangeForm], ConsolePage]
    refusals: tuple[type[Exception], ...] = (Refusal,)
    fields: Mapping[str, str] = field(default_factory=dict)
    status: int = 400

    def answer(self, request: HttpRequest, _: Context) -> HttpResponse:
        """Do it, or say on its page why it cannot be done; where nothing was sent, show the page."""
        if request.method != "POST":
            return answered(request, self.page(self.form))
        is_clean = self.form.is_valid()
        done = self._applied() if is_clean else None
        if done is not None:
            return done_answer(request, done)
        page = self.page(self.form)
        page = replace(page, problems=(*page.problems, *self.form.problems))
        return answered(request, page, self.status if is_clean else 400)

    def _applied(self) -> Done | ConsolePage | None:
        try:
            return self.apply(self.form.cleaned_data)
        except self.refusals as refusal:
            self.form.refuse(refusal, self.fields)
            return None


def acting(
    roles: frozenset[Role], active_entry: str
) -> Callable[[Callable[Concatenate[Context, Given], Act]], View[Given]]:
    """Make a view of what people of these roles may do at once, by a POST; what they sent is `context.sent`."""

    def decorate(act: Callable[Concatenate[Context, Given], Act]) -> View[Given]:
        @require_POST
        @shown_to(roles)
        @wraps(act)
        def view(
            request: HttpRequest, /, *args: Given.args, **kwargs: Given.kwargs
        ) -> HttpResponseBase:
            context = request_context(request, active_entry, carries=False)
            return act(context, *args, **kwargs).answer(request, context)

        return view

    return decorate


def changing(
    roles: frozenset[Role], active_entry: str
) -> Callable[[Callable[Concatenate[Context, Given], Change[Any] | Act]], View[Given]]:
    """A change that people of these roles may make; looking at it is a GET, making it a POST."""

    def decorate(change: Callable[Concatenate[Context, Given], Change[Any] | Act]) -> View[Given]:
        @require_http_methods(["GET", "HEAD", "POST"])
        @shown_to(roles)
        @wraps(change)
        def view(
            request: HttpRequest, /, *args: Given.args, **kwargs: Given.kwargs
        ) -> HttpResponseBase:
            context = for_csv(request, request_context(request, active_entry, carries=False))
            return change(context, *args, **kwargs).answer(request, context)

        PAGES.add(view)
        return view

    return decorate


def done_answer(request: HttpRequest, done: Done | ConsolePage, to: str = "") -> HttpResponse:
    """On to `to`, or the next page, with the words of success; or the page that shows what was made."""
    if isinstance(done, ConsolePage):
        return answered(request, done)
    messages.success(request, done[0])
    return redirect(to) if to else redirect(*done[1])


def fingerprint(entered: Sequence[Field], preview: ChangePreview) -> str:
    """Stands for what was shown: the entries, what they would do, and the rows that say more of it."""
    rows = [
        (*section.rows, section.foot)
        for section in preview.sections
        if isinstance(section, TableSection)
    ]
    shown = [*preview.effects, *rows] if preview.same is None else [*preview.same]
    entries = [(entry.name, entry.values) for entry in entered]
    return hashlib.sha256(repr((entries, shown)).encode()).hexdigest()[:16]


def frozen_fields(form: forms.Form) -> tuple[Field, ...]:
    """The entries of a form as the template takes them; a password is not shown again."""
    return tuple(_frozen(form[name], entry) for name, entry in form.fields.items())


def words_of(refusal: Exception) -> str:
    """Return the words of a refusal, as they stand at a field."""
    if isinstance(refusal, Refusal):
        return refusal.sentence
    sentence = str(refusal)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _hidden(name: str, value: str) -> Field:
    return Field(name=name, label="", value=value, kind="hidden")


def _frozen(bound: forms.BoundField, entry: forms.Field) -> Field:
    entered = None if isinstance(entry, PasswordField) else bound.value()
    is_ticks = isinstance(entry, TicksField)
    value = "" if entered is None or is_ticks else str(entered).strip()
    chosen = {*map(str, entered or ())} if is_ticks else {value}
    picks = entry.picks if isinstance(entry, PickField | TicksField) else {}
    return Field(
        name=bound.name,
        label=str(bound.label),
        value=value,
        kind=getattr(entry, "kind", "text"),
        problem=" ".join(map(str, bound.errors)),
        hint=str(entry.help_text),
        choices=tuple(Choice(key, text, key in chosen) for key, text in picks.items()),
        autocomplete=getattr(entry, "autocomplete", ""),
        rows=getattr(entry, "rows", 0),
        **_line_of(entry, value),
    )


def _line_of(entry: forms.Field, entered: str) -> dict[str, str]:
    if not isinstance(entry, SliderField):
        return {}
    return {
        "least": repr(entry.least),
        "most": repr(entry.most),
        "said": entry.said_of(entered),
    }
