"""The first act of an installation."""

from collections.abc import Callable
from datetime import datetime

from django.db import connection, transaction

from apps.accounts.actions.constraints import refusing
from apps.accounts.models import Organisation, StartingPoint, Team, TeamKind
from apps.accounts.queries.organisation import Bootstrap, supported_zones
from apps.economics.currencies import CURRENCIES
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change

MOST_PER_CENT = 1000
# Arbitrary but fixed: who enters what rests on the currency or the zone shares it, who chooses them
# has it alone. So either sees what the other wrote, whoever came first.
CHOOSING = 7_305_011


class AlreadyBootstrapped(Exception):
    """One installation is one organisation; its currency and zone are kept for good."""


class CurrencyUnknown(Refusal):
    """No currency of ISO 4217."""


class ZoneUnknown(Refusal):
    """Not a zone of the tz database that both this program and Postgres know."""


class WeekStartUnknown(Refusal):
    """Not an ISO weekday."""


class PriceApprovalUnknown(Refusal):
    """Not a per cent that prices could move by."""


class StartingPointUnknown(Refusal):
    """None of StartingPoint's."""


class NameMissing(Refusal):
    """An organisation, person or team without a name cannot be told apart."""


DEFAULTS = Bootstrap(name="My organisation")


@logged_change()
def bootstrap(*, organisation: Bootstrap, at: datetime) -> None:
    """Make the organisation and the teams that stand for nobody, Platform and Unowned.

    Refuses AlreadyBootstrapped, also when two do it at once, and a currency, zone, week start or
    name that is none.
    """
    _create_organisation(organisation, at, chosen_at=at)


@logged_change()
def bootstrap_with_defaults(*, at: datetime) -> None:
    """As `bootstrap`, with DEFAULTS, which `choose_organisation` may replace."""
    _create_organisation(DEFAULTS, at, chosen_at=None)


def hold_organisation() -> None:
    """Until the transaction ends nobody chooses another currency or zone; before they are read."""
    _lock_choosing("SELECT pg_advisory_xact_lock_shared(%s)")


@logged_change()
@transaction.atomic
def choose_organisation(
    *, organisation: Bootstrap, at: datetime, is_rested_on: Callable[[], bool]
) -> None:
    """Replace the defaults, before there is data that rests on them.

    `is_rested_on` says whether there is; whoever enters such data waits until this is done. Refuses
    AlreadyBootstrapped where there is, or they were chosen before, and what `bootstrap` refuses.
    """
    _refuse_unknown(organisation)
    _lock_choosing("SELECT pg_advisory_xact_lock(%s)")
    if is_rested_on():
        raise AlreadyBootstrapped(
            "there are prices or nodes already, which rest on the currency and zone"
        )
    chosen = Organisation.objects.filter(chosen_at=None).update(
        name=organisation.name.strip(),
        currency=organisation.currency,
        zone=organisation.zone,
        week_starts_on=organisation.week_starts_on,
        chosen_at=at,
    )
    if not chosen:
        raise AlreadyBootstrapped("this installation has its organisation already")


@logged_change()
def set_price_approval(*, per_cent: int | None) -> None:
    """Prices that move by more wait for a second person from now on; None: no price does.

    What waits already goes on waiting. Refuses PriceApprovalUnknown.
    """
    if per_cent is not None and not 0 <= per_cent <= MOST_PER_CENT:
        raise PriceApprovalUnknown(
            "per_cent", f"{per_cent} is not a per cent from 0 to {MOST_PER_CENT}"
        )
    Organisation.objects.filter(id=1).update(price_approval_per_cent=per_cent)


@logged_change()
def set_starting_point(*, starting_point: str) -> None:
    """Set what is shown first and asked for from now on; empty: what everybody is shown.

    It changes no amount. Refuses StartingPointUnknown.
    """
    if starting_point and starting_point not in StartingPoint.values:
        raise StartingPointUnknown(
            "starting_point", f"{starting_point!r} is none of {', '.join(StartingPoint.values)}"
        )
    Organisation.objects.filter(id=1).update(starting_point=starting_point)


@transaction.atomic
def _create_organisation(
    organisation: Bootstrap, at: datetime, *, chosen_at: datetime | None
) -> None:
    _refuse_unknown(organisation)
    taken = AlreadyBootstrapped("this installation has its organisation already")
    with refusing({"accounts_organisation_pkey": taken}):
        Organisation.objects.create(
            id=1,
            name=organisation.name.strip(),
            currency=organisation.currency,
            zone=organisation.zone,
            week_starts_on=organisation.week_starts_on,
            is_demo=organisation.is_demo,
            created_at=at,
            chosen_at=chosen_at,
        )
    Team.objects.create(name="Platform", kind=TeamKind.PLATFORM)
    Team.objects.create(name="Unowned", kind=TeamKind.UNOWNED)


def _lock_choosing(query: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, [CHOOSING])


def _refuse_unknown(organisation: Bootstrap) -> None:
    if not organisation.name.strip():
        raise NameMissing("name", "an organisation needs a name")
    if organisation.currency not in CURRENCIES:
        raise CurrencyUnknown(
            "currency", f"{organisation.currency!r} is not a currency code such as USD"
        )
    if organisation.zone not in supported_zones():
        raise ZoneUnknown("zone", f"{organisation.zone!r} is not a zone such as Europe/Berlin")
    if not 1 <= organisation.week_starts_on <= 7:
        raise WeekStartUnknown(
            "week_starts_on", f"{organisation.week_starts_on} is not a weekday, 1 (Monday) to 7"
        )
