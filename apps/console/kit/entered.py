"""Forms of what people enter, and its changes: entering one, changing it, removing it, and ending it at a moment.

`class QuotaForm(FormOf[EnteredGpuQuota])` has an entry for each field that has a label; what a page asks for otherwise
is declared in the class, as in any form, and a name that is None there is left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Any, Generic, TypeVar, get_origin

from django import forms
from django.forms.forms import DeclarativeFieldsMetaclass
from django.urls import URLPattern, path, reverse

from apps.accounts.queries import Role
from apps.accounts.queries.facts import field_names
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entries import (
    AmountField,
    DayField,
    MomentField,
    NonNegativeIntegerField,
    PickField,
    TextField,
    TicksField,
    TrueOrFalseField,
    amount_entered,
    as_entered,
)
from apps.console.kit.frame import Link
from apps.console.kit.request import Context, value_or_404
from apps.economics.refusal import Refusal
from apps.show.entries import EntryField, entered, entry_fields

Entered = TypeVar("Entered")
Kept = TypeVar("Kept")


class FormOf(ChangeForm, Generic[Entered]):
    """The form of a dataclass that people enter."""

    def __class_getitem__(cls, shape: Any) -> Any:
        """Return the class of forms with an entry for each labelled field of this dataclass."""
        if isinstance(shape, TypeVar):
            return cls
        form_fields = {
            entry_field.name: _form_field(entry_field)
            for entry_field in entry_fields(shape)
            if entry_field.entry.label
        }
        return DeclarativeFieldsMetaclass(cls.__name__, (cls,), form_fields)


def _form_field(field: EntryField) -> forms.Field:
    entry, is_needed = field.entry, field.is_required
    if entry.is_picked and get_origin(field.type) is tuple:
        return TicksField(entry.label, hint=entry.hint, is_needed=is_needed)
    if field.type is bool:
        return TrueOrFalseField(entry.label, entry.words_of_choices, entry.hint, entry.initial)
    if entry.is_picked or entry.choices:
        picks = {key: _capital(words) for key, words in entry.words_of_choices.items()}
        return PickField(entry.label, picks, entry.hint, entry.initial)
    if field.type is str:
        return TextField(
            entry.label,
            entry.hint,
            initial=entry.initial,
            needed=entry.needed,
            longest=entry.longest,
        )
    if field.type is datetime:
        return MomentField(entry.label, entry.hint, is_needed=is_needed, is_now=entry.is_now)
    if field.type is date:
        return DayField(entry.label, entry.hint, is_needed=is_needed)
    if field.type in NUMBERS:
        return NUMBERS[field.type](
            entry.label, entry.hint, entry.example, initial=entry.initial, is_needed=is_needed
        )
    raise TypeError(f"{field.name}: a form has no entry for {field.type}; declare it in the class")


NUMBERS: Mapping[Any, Callable[..., forms.Field]] = {
    int: NonNegativeIntegerField,
    Decimal: AmountField,
    float: AmountField,
}


def entries_of(fact: Any, form: type[ChangeForm], zone: tzinfo) -> dict[str, Any]:
    """Return what stands in a form of something that is kept: its fields as they would be entered."""
    return {
        name: _as_entered(getattr(fact, name), entry, zone)
        for name, entry in form.base_fields.items()
        if hasattr(fact, name)
    }


def _as_entered(value: Any, entry: forms.Field, zone: tzinfo) -> Any:
    if value is None:
        return ""
    if isinstance(entry, TrueOrFalseField):
        return entry.key_of(value=value)
    if isinstance(value, datetime):
        return as_entered(value, zone)
    if isinstance(value, Decimal):
        return amount_entered(value)
    if isinstance(value, float):
        return amount_entered(Decimal(repr(value)))
    if isinstance(value, tuple | list | frozenset):
        return [str(item) for item in value]
    return str(value)


# Without slots: with them Python 3.11 cannot make a frozen `EnteredPages[…](…)`.
@dataclass(frozen=True, kw_only=True)
class EnteredPages(Generic[Entered, Kept]):
    """The pages that enter one of a kind, change it and remove it, each with what it would do before it is done.

    Words: `noun` is what it is (`a quota`), `name` which one, of one that is kept or was entered; `explanation`, `of_change` and
    `of_removal` stand below the titles, `verb` on the button that enters it, `is_entered` in the words of success. `back` are the words
    and the address name of the page of all.

    Addresses: `key` is in their names (`add-<key>`, `<key>_id`), `address` before each of them.

    What is entered: `shape` is its dataclass, made of the entries of `form` by `read` where they are not its fields; `picks`
    and `initial` are a form's choices and entries, of the kept one where there is one; `fields` say at which entry a refusal is shown.

    What is done: `find` gives the kept one of an id, None where the viewer sees none; `check` refuses what was entered, beside the id that it takes the
    place of; `effects` say what it would do in the place of the kept one, `effects_of_removal` what is then gone. Without `replace` it cannot be changed.
    `page_of_one` is the address name of the page of one, where there is any: there one goes on to, and back.
    """

    noun: str
    name: Callable[[Any], str]
    explanation: str
    back: tuple[str, str]
    key: str
    address: str
    roles: frozenset[Role]
    active_entry: str
    shape: type[Entered]
    form: type[ChangeForm]
    find: Callable[[Context, int], Kept | None]
    effects: Callable[[Entered, Context, Kept | None], Sequence[str] | ChangePreview]
    effects_of_removal: Callable[[Kept, Context], Sequence[str]]
    add: Callable[[Entered, Context], Any]
    remove: Callable[[int, Context], object]
    replace: Callable[[int, Entered, Context], object] | None = None
    check: Callable[[Entered, int | None], None] = lambda *_: None
    read: Callable[[Mapping[str, Any], Context], Entered] | None = None
    picks: Callable[[Context], Mapping[str, Mapping[str, str]]] = lambda _: {}
    initial: Callable[[Context, Kept | None], Mapping[str, Any]] = lambda *_: {}
    fields: Mapping[str, str] = field(default_factory=dict)
    of_change: str = "What it was stays in the audit trail."
    of_removal: str = "The audit trail keeps what it was."
    verb: str = "Enter"
    is_entered: str = "is entered"
    page_of_one: str = ""

    @property
    def urlpatterns(self) -> list[URLPattern]:
        """Return the addresses of its changes."""
        decorate = changing(self.roles, self.active_entry)
        new = path(f"{self.address}/new", decorate(self.entering), name=f"add-{self.key}")
        changes = {"remove": self.removing} | (
            {} if self.replace is None else {"change": self.replacing}
        )
        return [new, *(_path_of_one(self, verb, change) for verb, change in changes.items())]

    def entering(self, context: Context) -> Change[Entered]:
        """Return the change that enters one."""

        def apply(new_one: Entered) -> Done:
            kept_id = self.add(new_one, context)
            return f"{_capital(self.name(new_one))} {self.is_entered}.", _way_on(self, kept_id)

        return self._change(context, None, apply)

    def replacing(self, context: Context, kept_id: int) -> Change[Entered]:
        """Return the change that has a kept one say something else."""
        fact = value_or_404(self.find(context, kept_id))
        replace = value_or_404(self.replace)

        def apply(new_one: Entered) -> Done:
            replace(kept_id, new_one, context)
            return f"{_capital(self.name(new_one))} is changed.", _way_on(self, kept_id)

        return self._change(context, (kept_id, fact), apply)

    def _change(
        self, context: Context, before: tuple[int, Kept] | None, apply: Callable[[Entered], Done]
    ) -> Change[Entered]:
        """Return a change of the form: of one that is not kept yet, or of the one `before`, by its id."""
        kept_id, fact = before or (None, None)

        def read(values: Mapping[str, Any]) -> Entered:
            new_one = (
                entered(self.shape, values) if self.read is None else self.read(values, context)
            )
            self.check(new_one, kept_id)
            if fact is not None and new_one == self._as_entered(fact):
                raise Refusal("", "nothing of it is different")
            return new_one

        current_entries = {} if fact is None else entries_of(fact, self.form, context.zone)
        return Change(
            finding=f"Add {self.noun}" if fact is None else f"Change {self.name(fact)}",
            explanation=self.explanation if fact is None else self.of_change,
            back=self._back(kept_id),
            form=self.form,
            confirm=f"{self.verb if fact is None else 'Change'} {self._this}",
            read=read,
            effects=lambda new_one: self.effects(new_one, context, fact),
            apply=apply,
            picks=self.picks(context),
            initial=current_entries | dict(self.initial(context, fact)),
            fields=self.fields,
        )

    def removing(self, context: Context, kept_id: int) -> Change[Kept]:
        """Return the change that removes a kept one."""
        fact = value_or_404(self.find(context, kept_id))

        def apply(_: Kept) -> Done:
            self.remove(kept_id, context)
            return f"{_capital(self.name(fact))} is removed.", (self.back[1],)

        return Change(
            finding=f"Remove {self.name(fact)}",
            explanation=self.of_removal,
            back=self._back(kept_id),
            form=ChangeForm,
            confirm=f"Remove {self._this}",
            read=lambda _: fact,
            effects=lambda _: self.effects_of_removal(fact, context),
            apply=apply,
        )

    @property
    def _this(self) -> str:
        return f"this {self.noun.split(maxsplit=1)[1]}"

    def _as_entered(self, fact: Kept) -> Entered:
        return self.shape(**{name: getattr(fact, name) for name in field_names(self.shape)})

    def _back(self, kept_id: int | None) -> Link:
        return _way_back(self, self._this.removeprefix("this "), kept_id)


class EndForm(ChangeForm):
    """When something ends."""

    ended_at = MomentField("Ends at", "A moment, to the second.", is_now=True)


# Without slots, as EnteredPages.
@dataclass(frozen=True, kw_only=True)
class EndingPage(Generic[Kept]):
    """The page that has one of a kind end at a moment, with what that would do before it is done.

    Words: `noun` is what it is (`plan`), `name` which one; `explanation` stands below the title. `back` are the words and the address
    name of the page of all; with `page_of_one` one goes back, and on, to the page of that one.

    Addresses: `end-<key>`, at `<address>/<id>/end`.

    What is done: `find` gives the kept one of an id, None where there is none; `check` refuses a moment; `effects` say what
    would end with it, `end` does it.
    """

    noun: str
    name: Callable[[Kept], str]
    explanation: Callable[[Kept], str]
    back: tuple[str, str]
    key: str
    address: str
    roles: frozenset[Role]
    active_entry: str
    find: Callable[[int], Kept | None]
    effects: Callable[[Kept, datetime, Context], Sequence[str]]
    end: Callable[[int, datetime, Context], object]
    check: Callable[[Kept, datetime], None] = lambda *_: None
    page_of_one: str = ""

    @property
    def urlpatterns(self) -> list[URLPattern]:
        """Return its address."""
        return [_path_of_one(self, "end", self.ending)]

    def ending(self, context: Context, kept_id: int) -> Change[datetime]:
        """Return the change that ends one."""
        fact = value_or_404(self.find(kept_id))

        def read(values: Mapping[str, Any]) -> datetime:
            ended_at: datetime = values["ended_at"]
            self.check(fact, ended_at)
            return ended_at

        def apply(ended_at: datetime) -> Done:
            self.end(kept_id, ended_at, context)
            return f"{_capital(self.name(fact))} has an end.", _way_on(self, kept_id)

        return Change(
            finding=f"End {self.name(fact)}",
            explanation=self.explanation(fact),
            back=_way_back(self, self.noun, kept_id),
            form=EndForm,
            confirm=f"End this {self.noun}",
            read=read,
            effects=lambda ended_at: self.effects(fact, ended_at, context),
            apply=apply,
        )


def _way_back(
    pages: EnteredPages[Any, Any] | EndingPage[Any], noun: str, kept_id: int | None
) -> Link:
    """Return the way to the page of the one, or to that of all where it has none or is not kept yet."""
    if kept_id is None or not pages.page_of_one:
        return Link(pages.back[0], reverse(pages.back[1]))
    return Link(f"Back to the {noun}", reverse(pages.page_of_one, args=[kept_id]))


def _way_on(pages: EnteredPages[Any, Any] | EndingPage[Any], kept_id: int) -> tuple[Any, ...]:
    """Return where one goes on to when the change is done."""
    return (pages.page_of_one, kept_id) if pages.page_of_one else (pages.back[1],)


def _path_of_one(
    pages: EnteredPages[Any, Any] | EndingPage[Any],
    verb: str,
    make_change: Callable[[Context, int], Change[Any]],
) -> URLPattern:
    """Return the address of a change of one, with the id under the name of its kind: `<int:budget_id>`."""

    def change(context: Context, /, **ids: int) -> Change[Any]:
        (kept_id,) = ids.values()
        return make_change(context, kept_id)

    kind = pages.key.replace("-", "_")
    view = changing(pages.roles, pages.active_entry)(change)
    return path(f"{pages.address}/<int:{kind}_id>/{verb}", view, name=f"{verb}-{pages.key}")


def _capital(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"
