"""The pages of portfolios: the newest answer, each that was asked for, and asking again."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.urls import path, reverse

from apps.accounts.queries import person_names
from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.form import FormSection
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Section, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.portfolio import words
from apps.console.pages.portfolio.answer import answer_page
from apps.console.pages.portfolio.asking import PortfolioForm, initial_of, overlay_of
from apps.console.pages.portfolio.tables import RUNS
from apps.planning import actions
from apps.planning.queries.portfolio.runs import (
    REFUSED,
    STATE_WORDS,
    PortfolioRunFact,
    latest_portfolio,
    portfolio_run,
    portfolio_runs,
)
from apps.show.time import instant


@shown(SEES_EVERYTHING, "portfolio")
def portfolio(context: Context) -> ConsolePage:
    """The newest answer, how far a newer run is, and the form that asks again."""
    return _portfolio_page(context)


def _portfolio_page(context: Context, sent: ChangeForm | None = None) -> ConsolePage:
    context = replace(context, path=reverse("portfolio"))
    runs, latest = portfolio_runs(), latest_portfolio()
    newest = runs[0] if runs else None
    initial_run = latest if newest is None else newest
    form = PortfolioForm.opened(sent, context, initial=initial_of(initial_run))
    asking = form.section(
        "ask",
        reverse("ask-portfolio"),
        "Ask",
        title="Ask again, with other assumptions",
        about="a worker answers, in seconds to a minute; every week what was asked last is asked again",
        is_primary=latest is None,
    )
    page = answer_page(context, latest) if latest else _first_page(context, newest, asking)
    if newest is None:
        return replace(page, csv_files=(RUNS.file("portfolios", context, tuple),))
    listed = RUNS.section(runs, context, csv_name="portfolios")
    refused = newest.state == REFUSED and (
        f"The run of {instant(newest.asked_at, context.zone)} could not be answered: {newest.refusal}.",
    )
    return replace(
        page,
        problems=(*page.problems, *(refused or ())),
        sections=(*_under_way(newest), *page.sections, *([asking] if latest else []), listed),
        empty=None,
        refresh_seconds=2 if newest.is_open and sent is None else 0,
    )


@shown(SEES_EVERYTHING, "portfolio")
def portfolio_run_page(context: Context, portfolio_id: int) -> ConsolePage:
    """One that was asked for."""
    run = _get_run_or_404(portfolio_id)
    back = Link("The newest portfolio", reverse("portfolio"))
    if run.answer is not None:
        return replace(answer_page(context, run), back=back)
    problem = run.refusal or words.progress(run) if run.state != "cancelled" else ""
    return ConsolePage(
        context=context,
        finding=f"This portfolio is {STATE_WORDS[run.state]}",
        under=(words.describe_requester(run, person_names()), instant(run.asked_at, context.zone)),
        problems=(problem,) if run.state == REFUSED else (),
        back=back,
        sections=tuple(_under_way(run)),
        refresh_seconds=2 if run.is_open else 0,
    )


@acting(SEES_EVERYTHING, "portfolio")
def submit_portfolio(context: Context) -> Act:
    """Have it answered with these assumptions."""

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.request_portfolio(
            overlay=overlay_of(entered),
            asked_by_id=context.viewer.person_id,
            at=context.at,
            text=entered["more"],
        )
        return "Asked: the answer comes here by itself.", ("portfolio",)

    return Act(
        form=PortfolioForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda form: _portfolio_page(context, form),
    )


@acting(SEES_EVERYTHING, "portfolio")
def cancel_portfolio(context: Context, portfolio_id: int) -> Act:
    """Call a run off."""
    _get_run_or_404(portfolio_id)

    def apply(_: Mapping[str, Any]) -> Done:
        actions.cancel_portfolio(run_id=portfolio_id, at=context.at)
        return "The run is called off.", ("portfolio",)

    return Act(
        form=ChangeForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda form: _portfolio_page(context, form),
        status=409,
    )


def _get_run_or_404(run_id: int) -> PortfolioRunFact:
    return value_or_404(portfolio_run(run_id))


def _under_way(run: PortfolioRunFact) -> Iterator[Section]:
    """How far the newest run is, and the button that calls it off."""
    if run.is_open:
        yield FormSection(
            name="under-way",
            action=reverse("cancel-portfolio", args=[run.id]),
            button="Call it off",
            title="A portfolio is being answered",
            words=f"{words.progress(run)}. This page says more as it comes.",
        )


def _first_page(
    context: Context, newest: PortfolioRunFact | None, asking: FormSection
) -> ConsolePage:
    under_way = newest is not None and newest.is_open
    page = ConsolePage(
        context=context,
        finding="The first portfolio is being answered" if under_way else "No portfolio yet",
        sections=(asking,),
    )
    if newest is not None:
        return page
    return replace(
        page,
        sections=(
            EmptyState(
                title="What to own, reserve, buy on demand and run on spot",
                sentence="A portfolio is answered from the GPU-hours of the last 90 days, the prices on record and what holds "
                "already. It says what to buy next, what that saves, and how it would have done. It takes a settled GPU-hour and a "
                "price on demand; without history there is nothing to plan from.",
                steps=(
                    Step("Prices on demand and on spot", link=Link("Prices", reverse("prices"))),
                    Step(
                        "What was bought ahead, which may be bought again",
                        link=Link("Commitments", reverse("commitments")),
                    ),
                ),
            ),
            asking,
        ),
    )


urlpatterns = [
    path("portfolio", portfolio, name="portfolio"),
    path("portfolio/ask", submit_portfolio, name="ask-portfolio"),
    path("portfolio/<int:portfolio_id>", portfolio_run_page, name="portfolio-run"),
    path("portfolio/<int:portfolio_id>/cancel", cancel_portfolio, name="cancel-portfolio"),
]
