"""A person's names are taken out of every table that may hold them; amounts stay as they are."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pgtrigger
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.db import transaction
from django.db.models import Field, JSONField, Model, Q, TextField
from django.db.models.functions import Cast

from apps.accounts.actions.people import deactivate_person
from apps.accounts.models import Pseudonym, User
from apps.accounts.queries.pseudonyms import name_digest, pseudonym_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change

USER_FIELDS = frozenset({"user", "user_name"})
"""Columns that hold what schedulers call a person, and nothing else."""
NAME_FIELDS = frozenset(
    {"who", "state_name", "author_name", "stated_name", "asked_name", "overridden_name"}
    | {"raised_by", "used_by"}
)
"""Columns that name who did something, maybe with a word or two more."""
VALUE_FIELDS = frozenset(
    {"labels", "tags", "seen", "detail", "job", "asked", "chosen", "metadata", "proposal", "facts"}
    | {"body"}
)
"""JSON in which a name is a value of its own."""
APART = frozenset(
    {
        # Their keeper renames these, with the digests of what was said.
        "workloads.job",
        "workloads.jobevent",
        # Frozen with a digest; people are in them by number only.
        "review.weeklyreview",
        "review.weeklyreviewworkload",
        "accounts.pseudonym",
        # Accounts are renamed by who is taken out: two people may have one name.
        "accounts.user",
        "accounts.userevent",
    }
)
ROOMS = frozenset(
    {"accounts", "ledger", "workloads", "planning", "placement", "review", "pghistory"}
)
"""What agents measure, bills and prices name machines, never people."""
NOT_PROSE = frozenset(
    {"ledger.billrow", "ledger.charge", "ledger.chargepiece", "ledger.settlement"}
)
SHORTEST = 2


@dataclass(frozen=True, slots=True)
class TakenOut:
    """What is written for each name now, and how many rows changed."""

    written: Mapping[str, str]
    rows: int


class PseudonymRefused(Refusal):
    """What was entered is no name that could be taken out."""


@logged_change(count=lambda answer, _: answer.rows)
@transaction.atomic
def pseudonymise(
    *, names: Sequence[str], person_id: int | None, by: int | None, at: datetime
) -> TakenOut:
    """Write a pseudonym for each of the names wherever one may stand.

    `names` are what schedulers, tokens and messages call somebody. With `person_id` that person's
    own name and address are taken out too, and their access ends. The keeper of jobs renames
    those itself, by what is written now. Refuses PseudonymRefused, User.DoesNotExist and LastManager.
    """
    taken = names_to_take_out(names, person_id)
    written = {name: pseudonym_of(name) for name in taken}
    for name, shown in written.items():
        Pseudonym.objects.get_or_create(
            digest=name_digest(name),
            defaults={"pseudonym": shown, "made_at": at, "made_by_id": by},
        )
    if person_id is not None:
        _end_access(person_id)
    # History is append-only, and would write down once more what is taken out of it here.
    with pgtrigger.ignore():
        if person_id is not None:
            _rename_person(person_id, written)
        rows = sum(_renamed(model, written) for model in _models())
    return TakenOut(written, rows)


def names_to_take_out(names: Sequence[str], person_id: int | None) -> list[str]:
    """The names that were entered and the person's own, each once, without those that are taken out already.

    Refuses PseudonymRefused, User.DoesNotExist.
    """
    taken = [name.strip() for name in names if name.strip()]
    if person_id is not None:
        user = User.objects.get(pk=person_id)
        taken += [user.email, user.name]
    if not taken or any(len(name) < SHORTEST for name in taken):
        raise PseudonymRefused("names", f"a name has {SHORTEST} characters or more")
    known = Pseudonym.objects.filter(pseudonym__in=taken).values_list("pseudonym", flat=True)
    left = [name for name in dict.fromkeys(taken) if name not in set(known)]
    if not left:
        raise PseudonymRefused("names", "these names are taken out already")
    return left


def _end_access(person_id: int) -> None:
    if User.objects.filter(pk=person_id, is_active=True).exists():
        deactivate_person(person_id=person_id)
    EmailAddress.objects.filter(user_id=person_id).delete()
    SocialAccount.objects.filter(user_id=person_id).delete()


def _rename_person(person_id: int, written: Mapping[str, str]) -> None:
    user = User.objects.get(pk=person_id)
    names = {
        "email": written.get(user.email, user.email),
        "name": written.get(user.name, user.name),
    }
    User.objects.filter(pk=person_id).update(**names)
    # What the database wrote down of them before has the name that they had then.
    history = apps.get_model("accounts", "UserEvent")
    history.objects.filter(pgh_obj_id=person_id).update(**names)


def _models() -> Iterator[type[Model]]:
    for model in apps.get_models(include_auto_created=True):
        if (
            model._meta.app_label in ROOMS
            and model._meta.label_lower not in APART
            and model._meta.managed
        ):
            yield model


def _renamed(model: type[Model], written: Mapping[str, str]) -> int:
    return sum(
        _renamed_field(model, field, written)
        for field in model._meta.concrete_fields
        if isinstance(field, TextField | JSONField) and not field.choices and not field.unique
    )


def _renamed_field(model: type[Model], field: Any, written: Mapping[str, str]) -> int:
    """Rows of one column in which a name stood. Only a name that is no plain word is looked for in prose."""
    name = field.name
    if name in USER_FIELDS:
        return sum(
            model._default_manager.filter(**{name: old}).update(**{name: new})
            for old, new in written.items()
        )
    is_named = name in NAME_FIELDS or name in VALUE_FIELDS
    sought = written if is_named else _rare_of(written)
    if not sought or (not is_named and model._meta.label_lower in NOT_PROSE):
        return 0
    return _rewritten(model, field, sought)


def _rewritten(model: type[Model], field: "Field[Any, Any]", sought: Mapping[str, str]) -> int:
    name, is_json, rare = field.name, isinstance(field, JSONField), _rare_of(sought)
    holds = Q()
    for old in sought:
        holds |= Q(as_text__icontains=_as_json_text(old) if is_json else old)
    found = model._default_manager.annotate(as_text=Cast(name, TextField())).filter(holds)
    count = 0
    for pk, value in list(found.values_list("pk", name)):
        new = _in_json(value, sought, rare) if is_json else _in_words(value, sought)
        if new != value:
            count += model._default_manager.filter(pk=pk).update(**{name: new})
    return count


def _as_json_text(name: str) -> str:
    """As the text of a JSON column has it within its quotes."""
    return json.dumps(name, ensure_ascii=False)[1:-1]


def _rare_of(written: Mapping[str, str]) -> Mapping[str, str]:
    """Those that can only be a person's: an address, or a name of two words."""
    return {old: new for old, new in written.items() if "@" in old or " " in old}


def _in_words(text: str, sought: Mapping[str, str]) -> str:
    """The names as whole words, the longest first; addresses in whatever case they are written.

    `ada` is no word of `ada.smith` and none of `bob+ada`, and ends a sentence.
    """
    for old in sorted(sought, key=len, reverse=True):
        case = re.IGNORECASE if "@" in old else re.NOFLAG
        word = rf"(?<![\w.@+-]){re.escape(old)}(?![\w@-]|[.+]\w)"
        text = re.sub(word, sought[old], text, flags=case)
    return text


def _in_json(value: Any, sought: Mapping[str, str], rare: Mapping[str, str]) -> Any:
    """Names that are a value of their own; within longer texts only the rare ones."""
    if isinstance(value, str):
        return sought.get(value) or _in_words(value, rare)
    if isinstance(value, dict):
        return {key: _in_json(each, sought, rare) for key, each in value.items()}
    if isinstance(value, list):
        return [_in_json(each, sought, rare) for each in value]
    return value
