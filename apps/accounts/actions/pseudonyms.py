"""A person's names are taken out of every table that may hold them; amounts stay as they are."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pgtrigger
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.db import transaction

from apps.accounts.actions.people import deactivate_person
from apps.accounts.actions.renaming import rename_table
from apps.accounts.models import Pseudonym, User
from apps.accounts.queries.pseudonyms import name_digest, pseudonym_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.personal.fields import walked_models
from apps.personal.names import TakenNames

SHORTEST = 2
Progress = Callable[[str, int], None]
"""Given each table by name as it is done, with how many of its rows were rewritten."""


@dataclass(frozen=True, slots=True)
class TakenOut:
    """What is written for each name now, and how many rows changed, of each table (`app.model`) and of all."""

    written: Mapping[str, str]
    by_table: Mapping[str, int]

    @property
    def rows(self) -> int:
        """Of all tables."""
        return sum(self.by_table.values())


class PseudonymRefused(Refusal):
    """What was entered is no name that could be taken out."""


@logged_change(count=lambda answer, _: answer.rows)
@transaction.atomic
def pseudonymise(
    *,
    names: Sequence[str],
    person_id: int | None,
    by: int | None,
    at: datetime,
    progress: Progress = lambda table, rows: None,
) -> TakenOut:
    """Write a pseudonym for each of the names in every column that is registered as personal.

    `names` are what schedulers, tokens and messages call somebody. With `person_id` that person's
    own name and address are taken out too, and their access ends. All of it or nothing is done: what was
    broken off is begun anew. Refuses PseudonymRefused, User.DoesNotExist and LastManager.
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
    by_table: Counter[str] = Counter()
    looked_for = TakenNames(written)
    # History is append-only, and would write down once more what is taken out of it here.
    with pgtrigger.ignore():
        if person_id is not None:
            _rename_person(person_id, written)
        for model in walked_models():
            label = model._meta.label_lower
            by_table[label] = rename_table(model, looked_for)
            progress(label, by_table[label])
    return TakenOut(written, +by_table)


def names_to_take_out(names: Sequence[str], person_id: int | None) -> list[str]:
    """The names that were entered and the person's own, earlier ones too, each once, without those that are taken out already.

    Refuses PseudonymRefused, User.DoesNotExist.
    """
    taken = [name.strip() for name in names if name.strip()]
    if person_id is not None:
        taken += _own_names(User.objects.get(pk=person_id))
    if not taken or any(len(name) < SHORTEST for name in taken):
        raise PseudonymRefused("names", f"a name has {SHORTEST} characters or more")
    known = Pseudonym.objects.filter(pseudonym__in=taken).values_list("pseudonym", flat=True)
    left = [name for name in dict.fromkeys(taken) if name not in set(known)]
    if not left:
        raise PseudonymRefused("names", "these names are taken out already")
    return left


def _own_names(user: User) -> list[str]:
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
