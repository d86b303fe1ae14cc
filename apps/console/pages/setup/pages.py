"""Setup: the questions, and the answers that are given right here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.urls import path, reverse
from django.utils.safestring import SafeString

from apps.console.kit.cells import drawn, linked
from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, files_page, shown
from apps.console.kit.request import MANAGES, SEES_EVERYTHING, Context, with_current_filters
from apps.console.kit.table import TableSection
from apps.console.kit.waiting import keep_count
from apps.console.pages.managers import role_sentence
from apps.console.pages.setup import first_tokens, guide, naming, new_nodes, new_pools, not_ours
from apps.console.pages.setup.exclusions import EXCLUDED_NODES
from apps.console.pages.setup.question_kind import QuestionKind, QuestionScope
from apps.console.pages.setup.questions import (
    KINDS,
    NODES_WITHOUT_GPUS,
    UNKNOWN_NODES,
    count_of,
    question_scope,
    recount,
    waiting_at,
)
from apps.fleet.queries import first_node_started_at, pools
from apps.show.amounts import counted
from apps.workloads.actions.excluded_nodes import take_back_exclusion

NO_QUESTIONS = EmptyState(
    "No questions yet",
    "As soon as nodes, agents, jobs or prices are on record, what cannot be placed is asked about "
    "here.",
    (Step("From nothing to a first dollar:", link=Link("The first day", "/setup/first-day")),),
)
NO_OPEN_QUESTIONS = EmptyState(
    "No open questions",
    "Every device, node, price and owner is known. What turns up unplaced is listed here.",
)


@shown(SEES_EVERYTHING, "setup")
def setup(context: Context) -> ConsolePage:
    """Everything that waits for an answer."""
    if context.csv_table is not None:
        scope = question_scope(context.at, context.organisation)
        return files_page(context, *(_question_file(kind, scope, context) for kind in KINDS))
    waiting = waiting_at(context.at, context.organisation)
    total = count_of(waiting)
    keep_count(total, context.at)
    is_fresh = not total and first_node_started_at() is None
    return setup_page(
        replace(context, frame=replace(context.frame, setup_questions=total)),
        waiting,
        naming.fitting_pools(
            [*waiting[UNKNOWN_NODES.key], *waiting[NODES_WITHOUT_GPUS.key]], pools()
        ),
        is_fresh=is_fresh,
    )


@acting(MANAGES, "setup")
def reopen_exclusion(context: Context, exclusion_id: int) -> Act:
    """A node that somebody said is not ours is asked about again; said twice it changes nothing."""

    def apply(_: Mapping[str, Any]) -> Done:
        count = take_back_exclusion(exclusion_id=exclusion_id)
        recount()
        return "It is asked about again." if count else "It was asked about already.", ("setup",)

    return _answer_on_setup_page(context, apply)


def _answer_on_setup_page(context: Context, apply: Callable[[Mapping[str, Any]], Done]) -> Act:
    """Return what a button of a question does; what is wrong with it stands above the questions."""

    def page(_: ChangeForm) -> ConsolePage:
        return setup_page(context, waiting_at(context.at, context.organisation), {})

    return Act(form=ChangeForm(context.sent, context, is_sent=True), apply=apply, page=page)


def setup_page(
    context: Context,
    waiting: Mapping[str, Sequence[Any]],
    fitting: Mapping[str, str],
    *,
    is_fresh: bool = False,
) -> ConsolePage:
    """The questions of `waiting`, by key; `fitting` are pools that nodes of no pool may be of."""
    context = replace(context, path=reverse("setup"))
    total, may_answer = count_of(waiting), context.viewer.may_manage
    finding = "Nothing waits for an answer."
    if total:
        finding = f"{counted(total, 'question')} {'waits' if total == 1 else 'wait'} for an answer."
    answerer = "" if may_answer else role_sentence("answers this")
    links = [("The first day, step by step", "first-day")]
    links += [("What was not understood", "not-understood")]
    links += [("Imports of jobs", "imports")] if may_answer else []
    return ConsolePage(
        context=context,
        finding="Nothing is on record yet." if is_fresh else finding,
        under=(
            "Nothing here is lost: what cannot be placed yet is kept, and counted as soon as it "
            "can be.",
            *(linked(text, context.onward(reverse(name))) for text, name in links),
        ),
        sections=tuple(
            _question_section(kind, waiting[kind.key], fitting, context, answerer)
            for kind in KINDS
            if waiting[kind.key]
        ),
        empty=None if any(waiting.values()) else NO_QUESTIONS if is_fresh else NO_OPEN_QUESTIONS,
    )


def _question_file(kind: QuestionKind[Any], scope: QuestionScope, context: Context) -> CsvFile:
    """Everything of one kind that waits."""
    return kind.table.file(kind.csv_name, context, lambda: kind.find(scope))


def _question_section(
    kind: QuestionKind[Any],
    rows: Sequence[Any],
    fitting: Mapping[str, str],
    context: Context,
    answerer: str,
) -> TableSection:
    """The rows of a kind; to whom it is not open, `answerer` answers it."""
    may_answer = context.viewer.role in kind.answered_by
    table = kind.asked(may_answer=may_answer)
    title = table.title.replace("{said}", counted(len(rows), *table.noun))
    section_options: dict[str, Any] = {}
    if not may_answer:
        section_options = {"remark": answerer}
    elif kind not in (UNKNOWN_NODES, NODES_WITHOUT_GPUS):
        section_options = {"remark": _step_words(kind.step(rows), kind.key, context)}
    elif fitting:
        table, section_options = naming.with_ticks(table, rows, fitting, context)
    else:
        first = Step("They need a pool first.", link=naming.pool_link("Add a pool", rows))
        section_options = {"remark": _step_words(first, kind.key, context)}
    return table.section(
        rows,
        context,
        title=title,
        csv_name=kind.csv_name,
        is_sent=may_answer and kind is EXCLUDED_NODES,
        **section_options,
    )


def _step_words(step: Step | None, name: str, context: Context) -> SafeString:
    if step is None:
        return SafeString("")
    step = replace(step, link=step.link and with_current_filters(step.link, context))
    return drawn("components/step.html", step=step, name=name)


urlpatterns = [
    path("setup", setup, name="setup"),
    path("setup/first-day", guide.first_day, name="first-day"),
    path("setup/first-day/invitation", first_tokens.invite_agent, name="first-invitation"),
    path("setup/first-day/agent", first_tokens.make_agent_token, name="first-agent"),
    path("setup/first-day/jobs", first_tokens.make_jobs_token, name="first-jobs-token"),
    path("fleet/pools/new", new_pools.add_pool, name="add-pool"),
    path("fleet/nodes/new", new_nodes.add_nodes, name="add-nodes"),
    path("setup/nodes/name", naming.name_nodes, name="name-nodes"),
    path("setup/nodes/not-ours", not_ours.exclude, name="exclude-nodes"),
    path("setup/nodes/not-ours/<int:exclusion_id>/ask-again", reopen_exclusion, name="ask-again"),
]  # fmt: skip
