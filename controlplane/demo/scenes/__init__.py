"""What happens in the demo's company: a file for each scene, told in the order that stands here.

A scene is a function that is given the company, tells facts through the doors that anybody has (REST,
a command, an action of the console) and writes no row itself.
"""

from collections.abc import Callable

from controlplane.demo.company import Company
from controlplane.demo.scenes import (
    agents,
    ahead,
    alerts,
    announced,
    anomalies,
    asked,
    bought,
    budgets,
    buying,
    closes,
    cloud,
    kept,
    moved,
    office,
    owned,
    placed,
    prices,
    promises,
    recommended,
    reviews,
    shared,
    vendors,
)

Scene = Callable[[Company], None]
"""Its docstring is the line said of it."""

OF_THE_WEEK: tuple[Scene, ...] = (bought.buy_ahead, shared.share_costs)
"""Known before the first dollar, also where the demo is of one week."""
BEFORE_SETTLING: tuple[Scene, ...] = (
    prices.agree_and_cut_prices,
    owned.own_hardware,
    office.say_whose_transfer_it_is,
    vendors.agree_with_a_vendor,
    promises.promise_answers,
    promises.deploy_a_judge,
)
"""Likewise, of the weeks before: told while the console is not up yet, so in a second or two."""
OF_TWO_WEEKS: tuple[Scene, ...] = (
    cloud.read_the_cloud,
    agents.agents_report,
    office.import_accounting,
    office.let_machines_join,
    office.ask_for_files,
    prices.propose_a_price,
    reviews.state_worth,
)
"""Facts that no week before the last one changes: told once, while the second week comes in."""
OF_ALL_WEEKS: tuple[Scene, ...] = (
    promises.ship_models,
    vendors.take_vendor_reports,
    kept.keep_views,
    reviews.state_scores,
)
"""Facts of weeks long ago: told once all of them are settled."""
ANSWERS: tuple[Scene, ...] = (
    anomalies.look_every_day,
    announced.say_what_is_ahead,
    ahead.forecast_everything,
    buying.ask_for_a_portfolio,
    ahead.compare_with_apis,
    budgets.set_budgets,
    budgets.state_headroom,
    asked.ask_for_capacity,
    asked.plan_ahead,
    budgets.enter_quotas,
    budgets.enter_room,
    budgets.set_targets,
    alerts.raise_alerts,
    kept.keep_notes,
    placed.ask_where,
    placed.ask_admissions,
    moved.look_at_the_fleet,
    recommended.look_for_what_to_do,
    reviews.review_weeks,
)
"""What stands on settled weeks, all of it in the rooms of `controlplane.demo.answers`: first of the last two
weeks, then again of all."""
AFTER_THE_WEEKS: tuple[Scene, ...] = (
    office.send_history,
    closes.close_months,
    closes.own_late,
)
"""Told last; each settles what it changed."""


def play(scenes: tuple[Scene, ...], company: Company) -> None:
    """Say each and tell it."""
    for scene in scenes:
        company.say(f"  {(scene.__doc__ or '').splitlines()[0]}")
        scene(company)
