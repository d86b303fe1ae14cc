"""Taking a person out: what names them is replaced everywhere, and amounts stay."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import path, reverse

from apps.accounts import actions
from apps.accounts.queries import people as everybody
from apps.accounts.queries.pseudonyms import files_of_last_removal, written_for
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import PickField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, Context
from apps.economics.refusal import Refusal
from apps.personal.names import PLAIN_WORDS
from apps.show.amounts import counted

MOST_FILES = 20
IN_EVERY_COLUMN = (
    "In every column that may name a person, in whatever case it is written there: jobs, roll-ups by "
    "user, rules, notes, alerts, anomalies, frozen reviews, the audit trail and what was asked; jobs "
    "that a scheduler reports again are written so too."
)
WHAT_STAYS = (
    "Amounts and times stay: the same dollars belong to the same teams, jobs and runs.",
    "Exports that hold a name are deleted within minutes: ask for them again. Uploads and backups that hold it are listed "
    "on this page then; log files, and names of jobs, runs and tags that are sent from now on, are not changed.",
    "What breaks off on the way is gone on with within a minute.",
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
    known = {each.id: each for each in everybody()}

    def read(entered: Mapping[str, Any]) -> Mapping[str, Any]:
        names = [name.strip() for name in str(entered["names"] or "").split(",") if name.strip()]
        person_id = int(entered["person"]) if entered["person"] else None
        if not names and person_id is None:
            raise actions.PseudonymRefused("names", "choose a person, or enter a name")
        actions.names_to_take_out(names, person_id)
        return {"names": names, "person_id": person_id}

    def effects(chosen: Mapping[str, Any]) -> tuple[str, ...]:
        person = known.get(chosen["person_id"])
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
        taken = actions.pseudonymise(**chosen, by=context.viewer.person_id, at=context.at)
        return _rewritten_words(taken), ("pseudonymise",)

    return Change(
        finding="Pseudonymise a person",
        explanation="Every name of theirs is replaced by one that says nothing, for good."
        + _files_of_last_removal(),
        back=Link("People", reverse("people")),
        form=PseudonymForm,
        picks={
            "person": {"": "nobody who signs in"}
            | {str(each.id): f"{each.name} ({each.email})" for each in known.values()}
        },
        initial={"person": context.query.get("person", "")},
        confirm="Replace these names for good",
        look="See what is replaced",
        read=read,
        effects=effects,
        apply=apply,
        refusals=(Refusal, actions.LastManager),
    )


def _rewritten_words(taken: actions.TakenOut) -> str:
    jobs = taken.by_table.get("workloads.job", 0)
    said = f"{counted(jobs, 'job')} and {counted(taken.rows - jobs, 'other row')} were rewritten."
    return f"{said} Files are looked through next: this page lists those that hold a name."


def _files_of_last_removal() -> str:
    """What is said of files that hold a name, or may, since names were last taken out."""
    files = files_of_last_removal()
    if not files:
        return ""
    listed = " ".join(f"{file.name}: {file.outcome}." for file in files[:MOST_FILES])
    left = len(files) - MOST_FILES
    more = f" And {left} more." if left > 0 else ""
    return f" Files that held a name of the last one, or may: {listed}{more}"


def _plain_words(names: Sequence[str]) -> list[str]:
    """What is said of names that are words too."""
    words = [name for name in names if name.casefold() in PLAIN_WORDS]
    stays = "also a word: in the middle of a sentence it stays, as nobody can tell which is meant."
    return [f"{name} is {stays}" for name in words]


urlpatterns = [path("people/pseudonymise", pseudonymise_person, name="pseudonymise")]
