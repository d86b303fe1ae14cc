"""A person's names are taken out of every table that may hold them; amounts stay as they are."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime

import pgtrigger
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.db import connection, transaction
from django.db.models import Model

from apps.accounts.actions.people import deactivate_person
from apps.accounts.actions.renaming import rename_table
from apps.accounts.models import NameRemoval, Pseudonym, User
from apps.accounts.queries.pseudonyms import SEALED_FOR, name_digest, pseudonyms_of, written_for
from apps.accounts.queries.sealed import opened_secret, sealed_secret
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.personal.fields import walked_models
from apps.personal.names import FileOutcome, TakenNames, folded_name

SHORTEST = 2
# Arbitrary but fixed, beside the removal's own number: one process at a time is at one.
REMOVING = 7_305_041
Progress = Callable[[str, int], None]
"""Given each table by name as it is done, with how many of its rows were rewritten."""


LookThrough = Callable[[TakenNames], Sequence[FileOutcome]]
"""Looks through the files that were made until now, and returns what became of those that hold a name."""


@dataclass(frozen=True, slots=True)
class TakenOut:
    """The pseudonyms now written for each name, and how many rows changed, of each table (`app.model`) and of all."""

    written: Mapping[str, str]
    by_table: Mapping[str, int]

    @property
    def rows(self) -> int:
        """Of all tables."""
        return sum(self.by_table.values())


class RemovalUnderWay(Exception):
    """Somebody else takes these names out at this moment."""


class NamesNotReadable(Exception):
    """Names of a removal that was broken off were sealed with a key that is not here any more."""


class PseudonymRefused(Refusal):
    """Refusal of an entry that is no name that could be taken out."""


@logged_change()
@transaction.atomic
def begin_removal(
    *, names: Sequence[str], person_id: int | None, by: int | None, at: datetime
) -> int:
    """Have a pseudonym written for each of the names in every column that is registered as personal; return the removal's id.

    `names` are what schedulers, tokens and messages call somebody. With `person_id` that person's
    own name and address are taken out too, and their access ends. From now on whatever arrives is written with the
    pseudonyms; tables and files are a worker's (`go_on_removing`), for a large one takes minutes.
    Refuses PseudonymRefused, User.DoesNotExist and LastManager.
    """
    taken = names_to_take_out(names, person_id)
    written = written_for(taken)
    taken_before = pseudonyms_of(taken)
    for name, shown in written.items():
        if name in taken_before:
            continue
        Pseudonym.objects.get_or_create(
            digest=name_digest(folded_name(name)),
            defaults={"pseudonym": shown, "made_at": at, "made_by_id": by},
        )
    if person_id is not None:
        _end_access(person_id)
        # History is append-only, and would write down once more what is taken out of it here.
        with pgtrigger.ignore():
            _rename_person(person_id, written)
    sealed = sealed_secret(json.dumps(written), SEALED_FOR)
    return NameRemoval.objects.create(sealed_names=sealed, began_at=at).id


@logged_change(count=lambda answer, _: answer.rows)
def go_on_removing(
    *,
    removal_id: int,
    at: datetime,
    progress: Progress = lambda table, rows: None,
    look_through: LookThrough | None = None,
) -> TakenOut:
    """Rewrite the tables that are still to be done, then look through files; again as often as need be.

    Each table is done whole or not at all, and noted: who goes on with what was broken off ends the same. Files are a worker's, which brings `look_through`; without, the removal waits for one, and its names stay sealed.
    Refuses RemovalUnderWay where somebody else is at it, and NamesNotReadable where they were sealed with another key.
    """
    with _alone_at(removal_id) as removal:
        opened = opened_secret(removal.sealed_names, SEALED_FOR) if removal.sealed_names else "{}"
        if opened is None:
            raise NamesNotReadable("the names were sealed with another key: enter them again")
        written: dict[str, str] = json.loads(opened)
        names = TakenNames(written)
        for model in walked_models():
            label = model._meta.label_lower
            if removal.ended_at is None and label not in removal.tables:
                _remove_from_table(removal, model, names)
                progress(label, removal.tables[label])
        if removal.ended_at is None and look_through is not None:
            # What was written while tables were rewritten may have read a name before it went.
            outcomes = look_through(names)
            removal.files = [asdict(outcome) for outcome in outcomes]
            removal.sealed_names, removal.ended_at = "", at
            removal.save(update_fields=["files", "sealed_names", "ended_at"])
        return TakenOut(written, +Counter(removal.tables))


def removals_to_finish() -> list[int]:
    """Return removals that were broken off, the oldest first."""
    left = NameRemoval.objects.filter(ended_at=None).order_by("id")
    return list(left.values_list("id", flat=True))


@contextmanager
def _alone_at(removal_id: int) -> Iterator[NameRemoval]:
    """Give a removal to one at a time; who is killed lets go of it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [REMOVING, removal_id])
        if not cursor.fetchone()[0]:
            raise RemovalUnderWay("these names are being taken out already")
    try:
        yield NameRemoval.objects.get(id=removal_id)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [REMOVING, removal_id])


@transaction.atomic
def _remove_from_table(removal: NameRemoval, model: type[Model], names: TakenNames) -> None:
    with pgtrigger.ignore():
        removal.tables[model._meta.label_lower] = rename_table(model, names)
    removal.save(update_fields=["tables"])


def names_to_take_out(names: Sequence[str], person_id: int | None) -> list[str]:
    """The names that were entered and the person's own, earlier ones too, each once, without those that are taken out already.

    Refuses PseudonymRefused, User.DoesNotExist.
    """
    taken = [name.strip() for name in names if name.strip()]
    if person_id is not None:
        taken += _names_of_user(User.objects.get(pk=person_id))
    if not taken or any(len(name) < SHORTEST for name in taken):
        raise PseudonymRefused("names", f"a name has {SHORTEST} characters or more")
    pseudonyms = Pseudonym.objects.filter(pseudonym__in=taken).values_list("pseudonym", flat=True)
    left = [name for name in dict.fromkeys(taken) if name not in set(pseudonyms)]
    if not left:
        raise PseudonymRefused("names", "these names are taken out already")
    return left


def _names_of_user(user: User) -> list[str]:
    """By what an account goes and went; a single letter is nothing that a text can be searched for."""
    history = apps.get_model("accounts", "UserEvent").objects.filter(pgh_obj_id=user.pk)
    earlier = [name for pair in history.order_by("pgh_id").values_list("email", "name") for name in pair]  # fmt: skip
    return [name for name in (user.email, user.name, *earlier) if len(name.strip()) >= SHORTEST]


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
    if len(user.name.strip()) < SHORTEST:
        names["name"] = names["email"]
    User.objects.filter(pk=person_id).update(**names)
    # What the database wrote down of them before has the name that they had then.
    history = apps.get_model("accounts", "UserEvent")
    history.objects.filter(pgh_obj_id=person_id).update(**names)
