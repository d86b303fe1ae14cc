"""Taking a person out: what names them is replaced everywhere, and amounts stay."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.urls import path, reverse

from apps.accounts import actions
from apps.accounts.queries import people as everybody
from apps.accounts.queries.pseudonyms import RemovalFact, last_removal, written_for
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import PickField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, Context
from apps.economics.refusal import Refusal
from apps.personal.names import PLAIN_WORDS
from apps.show.amounts import counted
from apps.show.time import duration

MOST_FILES = 20
BEGUN = "The names are taken out from now on: this page says how far that is. What arrives is written with what stands in their place already."
IN_EVERY_COLUMN = (
    "In every column that may name a person, in whatever case it is written there: jobs, roll-ups by "
    "user, rules, notes, alerts, anomalies, frozen reviews, the audit trail and what was asked; what "
    "schedulers, agents, SDKs and files bring from now on is written so too."
)
WHAT_STAYS = (
    "Amounts and times stay: the same dollars belong to the same teams, jobs and runs.",
    "Exports that hold a name are deleted within minutes: ask for them again. Uploads and backups that hold it are listed "
    "on this page then; log files, and texts that people enter from now on, are not changed.",
    "A worker goes through table after table, with millions of rows for minutes; this page says how far, and what breaks off is gone on with.",
    "The name itself is kept nowhere: this cannot be taken back.",
)


class PseudonymForm(ChangeForm):
    """Who is taken out."""

    person = PickField("Person who signs in", hint="Their access ends.")
    names = TextField(
        "Names in jobs and messages",
        "By comma, as schedulers write them: ada, a.lovelace",
    )


@changing(MANAGES, "people")
def pseudonymise_person(context: Context) -> Change[Mapping[str, Any]]:
    """Says what will be written in place of each name, and what stays, then replaces them all."""
    people_by_id = {listed_person.id: listed_person for listed_person in everybody()}

    def read(entered: Mapping[str, Any]) -> Mapping[str, Any]:
        names = [name.strip() for name in str(entered["names"] or "").split(",") if name.strip()]
        person_id = int(entered["person"]) if entered["person"] else None
        if not names and person_id is None:
            raise actions.PseudonymRefused("names", "choose a person, or enter a name")
        actions.names_to_take_out(names, person_id)
        return {"names": names, "person_id": person_id}

    def effects(chosen: Mapping[str, Any]) -> tuple[str, ...]:
        person = people_by_id.get(chosen["person_id"])
        names = actions.names_to_take_out(**chosen)
        return (
            *(
                f"{name} is written {shown} from now on."
                for name, shown in written_for(names).items()
            ),
            IN_EVERY_COLUMN,
            *_plain_words(names),
            *([f"{person.name} cannot sign in any more."] if person else []),
            *WHAT_STAYS,
        )

    def apply(chosen: Mapping[str, Any]) -> Done:
        actions.begin_removal(**chosen, by=context.viewer.person_id, at=context.at)
        return BEGUN, ("pseudonymise",)

    return Change(
        finding="Pseudonymise a person",
        explanation="Every name of theirs is replaced by one that says nothing, for good."
        + _last_removal_words(context.at),
        back=Link("People", reverse("people")),
        form=PseudonymForm,
        picks={
            "person": {"": "nobody who signs in"}
            | {
                str(listed_person.id): f"{listed_person.name} ({listed_person.email})"
                for listed_person in people_by_id.values()
            }
        },
        initial={"person": context.query.get("person", "")},
        confirm="Replace these names for good",
        look="See what is replaced",
        read=read,
        effects=effects,
        apply=apply,
        refusals=(Refusal, actions.LastManager),
    )


def _last_removal_words(at: datetime) -> str:
    """Return what is said of the last removal: how far it is, or what it rewrote, and of files that hold a name or may."""
    removal = last_removal()
    if removal is None:
        return ""
    return f" {_how_far(removal, at)}{_of_files(removal)}"


def _how_far(removal: RemovalFact, at: datetime) -> str:
    jobs = removal.tables.get("workloads.job", 0)
    rewritten = f"{counted(jobs, 'job')} and {counted(removal.rows - jobs, 'other row')}"
    if removal.ended_at is not None:
        return f"The last one rewrote {rewritten}."
    so_far = f"{len(removal.tables)} of {removal.all_tables} tables are done, {rewritten} rewritten"
    if not removal.is_readable:
        return f"The last one cannot go on, because its names were sealed with another key: {so_far}. Enter them again."
    age = duration(at - removal.began_at)
    if len(removal.tables) < removal.all_tables:
        return f"The last one is under way, for {age} now: {so_far}."
    return f"The last one is under way, for {age} now: {so_far}. Files are looked through next."


def _of_files(removal: RemovalFact) -> str:
    if not removal.files:
        return ""
    listed = " ".join(f"{file.name}: {file.outcome}." for file in removal.files[:MOST_FILES])
    left = len(removal.files) - MOST_FILES
    more = f" And {left} more." if left > 0 else ""
    return f" Files that held a name of it, or may: {listed}{more}"


def _plain_words(names: Sequence[str]) -> list[str]:
    """Return what is said of names that are words too."""
    words = [name for name in names if name.casefold() in PLAIN_WORDS]
    stays = "also a word: in the middle of a sentence it stays, as nobody can tell which is meant."
    return [f"{name} is {stays}" for name in words]


urlpatterns = [path("people/pseudonymise", pseudonymise_person, name="pseudonymise")]
