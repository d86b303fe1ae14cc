"""A currency chosen for good, while somebody enters what rests on the one before it."""

from collections.abc import Callable

import pytest

from apps.accounts import actions
from apps.accounts.queries import organisation
from apps.pricing.actions import RateCurrencyDiffers
from apps.pricing.queries import rests_on_organisation
from tests import make
from tests.apps.ledger import scene
from tests.databases import meanwhile

pytestmark = pytest.mark.django_db(transaction=True)


def choose_euro() -> None:
    actions.choose_organisation(
        organisation=actions.Bootstrap(name="Atlas", currency="EUR"),
        at=make.NOON,
        is_rested_on=rests_on_organisation,
    )


@pytest.mark.parametrize("entered", [make.make_rate, make.make_node])
def test_nothing_is_chosen_once_something_rests_on_what_is_there(
    entered: Callable[[], object],
) -> None:
    actions.bootstrap_with_defaults(at=make.NOON)

    chosen = meanwhile(entered, choose_euro)

    with pytest.raises(actions.AlreadyBootstrapped, match="rest on the currency"):
        chosen.result()
    assert organisation().currency == "USD"


def test_a_price_of_the_currency_before_is_refused_once_another_is_chosen() -> None:
    actions.bootstrap_with_defaults(at=make.NOON)

    entered = meanwhile(choose_euro, make.make_rate)

    with pytest.raises(RateCurrencyDiffers, match="from USD to EUR"):
        entered.result()
    assert organisation().currency == "EUR"
    assert not rests_on_organisation()


def test_what_was_bought_rests_on_the_currency_too() -> None:
    actions.bootstrap_with_defaults(at=make.NOON)
    assert not rests_on_organisation()

    scene.make_owned_plan("rack")

    with pytest.raises(actions.AlreadyBootstrapped):
        choose_euro()
