"""Calls to model APIs become charges whose lines, charges and calls are one sum."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models import F

from apps.ledger.actions.api_prices import enter_price
from apps.ledger.actions.calls import mark_calls, price_hour, price_waiting
from apps.ledger.actions.close import CloseRequest, close_month, post_corrections
from apps.ledger.actions.exchanging import state_rate
from apps.ledger.models import ApiCost, ApiHour, Bill, BilledCharge, Charge, LedgerDay, Line
from apps.ledger.queries.closes.checklist import checklist
from apps.ledger.solvers.api_pricing import books
from apps.marks.actions import Mark, mark
from apps.marks.queries import Pass, marks_of_hour
from apps.pricing.actions import NewExchangeRate
from apps.pricing.actions.api_prices import ApiPriceNotUnderstood, EnteredApiPrice
from apps.pricing.models import ApiPrice, ApiVendor
from apps.workloads.actions.usage import Call, take_calls
from apps.workloads.api.usage_counts import MOST
from apps.workloads.models import UsageEvent, Workload
from controlplane.ledger_audit import audit_here
from controlplane.settling import settle_window
from tests import make

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
NOON = make.NOON
LATER = NOON + timedelta(hours=5)
NUMBERS = iter(range(10**9))


@pytest.fixture
def team_id() -> int:
    make.make_organisation()
    return make.make_team()


def call(team_id: int, **given: Any) -> Call:
    """gpt-4.1: 2 dollars a million tokens in, 0.50 cached, 8 out."""
    values: dict[str, Any] = {
        "source": "rest:0",
        "key": f"call-{next(NUMBERS)}",
        "at": NOON,
        "vendor": "openai",
        "model": "gpt-4.1",
        "team_id": team_id,
        "input_tokens": 1000,
        "cached_tokens": 0,
        "output_tokens": 0,
    }
    return Call(**values | given)


def price(*calls: Call, at: datetime = LATER) -> None:
    """Take calls, price them and settle the ledger."""
    take_calls(calls=calls, at=at)
    price_waiting(before=at, book=books)
    settle_window(starts_at=NOON - timedelta(days=40), ends_at=at, at=at)


def total(of: Any, field: str = "effective_micros") -> int:
    return sum(value or 0 for value in of.objects.values_list(field, flat=True))


def test_lines_charges_and_calls_are_one_sum_rounded_once(team_id: int) -> None:
    # A seventh of a thousandth of a dollar's millionth would be lost a hundred times over.
    price(*(call(team_id, input_tokens=3, feature=f"f{k % 7}") for k in range(101)))
    unrounded = sum(
        (Fraction(each or 0) for each in ApiCost.objects.values_list("amount", flat=True)),
        Fraction(0),
    )
    assert unrounded * 10**6 == 606
    assert Charge.objects.get().effective_micros == 606
    assert total(Line) == total(LedgerDay) == total(ApiHour, "micros") == 606
    assert ApiHour.objects.count() == 7
    assert audit_here().adds_up


def test_what_is_charged_before_any_node_lived_is_audited(team_id: int) -> None:
    price(call(team_id))
    audited = audit_here()
    assert (audited.charges, audited.lines, audited.adds_up) == (1, 1, True)
    Line.objects.update(effective_micros=F("effective_micros") + 1)
    assert audit_here().residual_micros == 1
    make.make_node(at=LATER)
    assert audit_here().residual_micros == 1


def test_ten_thousand_calls_of_the_greatest_count_are_one_exact_sum(team_id: int) -> None:
    price(call(team_id, model="of nobody", input_tokens=MOST - 1))
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH more AS (
                INSERT INTO workloads_usageevent
                SELECT (jsonb_populate_record(told, jsonb_build_object('id', told.id + n, 'key', n))).*
                FROM workloads_usageevent AS told, generate_series(2, 10000) AS n RETURNING id
            )
            INSERT INTO ledger_apicost
            SELECT (jsonb_populate_record(cost, jsonb_build_object('event_id', more.id))).*
            FROM ledger_apicost AS cost, more
            """
        )
    mark([Mark(Pass.CALLS, 0, NOON)])
    price_hour(hour=NOON, book=books())
    assert ApiHour.objects.get().input_tokens == 10_000 * (MOST - 1)


def test_a_fraction_of_a_micro_is_rounded_once_for_all_calls(team_id: int) -> None:
    price(*(call(team_id, model="gpt-4.1-nano", input_tokens=4) for _ in range(5)))
    # 0.4 micro-dollars each.
    assert set(ApiCost.objects.values_list("micros", flat=True)) == {0}
    assert Charge.objects.get().effective_micros == 2


def test_a_charge_is_of_one_model_team_and_workload(team_id: int) -> None:
    other = make.make_team("Vision")
    workload = Workload.objects.create(name="search", team_id=team_id, kind="serving")
    price(
        call(team_id),
        call(team_id, workload_id=workload.id),
        call(team_id, model="gpt-4.1-mini"),
        call(other),
        call(team_id, at=NOON + HOUR),
    )
    charges = Charge.objects.order_by("id")
    assert [each.kind for each in charges] == ["api"] * 5
    assert all(each.node_id is None and each.pool_id is None for each in charges)
    lines = Line.objects.values_list("team_id", "workload_id", "effective_micros")
    assert sorted(lines, key=str) == sorted(
        [
            (team_id, None, 2000),
            (team_id, workload.id, 2000),
            (team_id, None, 400),
            (other, None, 2000),
            (team_id, None, 2000),
        ],
        key=str,
    )


def test_a_call_is_priced_once_and_the_next_ones_are_added(team_id: int) -> None:
    first = call(team_id)
    price(first)
    cost = ApiCost.objects.get()
    price(first)
    assert (ApiCost.objects.get().event_id, total(Line)) == (cost.event_id, 2000)
    price(call(team_id))
    assert (ApiCost.objects.count(), total(Line), Charge.objects.count()) == (2, 4000, 1)
    assert not marks_of_hour(Pass.CALLS, NOON)


@pytest.mark.parametrize("best_first", [True, False])
def test_a_call_that_a_span_and_a_gateway_tell_of_costs_once_though_it_was_priced(
    team_id: int, best_first: bool
) -> None:
    gateway = call(team_id, source="litellm:0", response_id="resp-7")
    span = call(
        team_id, source="otel:0", response_id="resp-7", at=NOON + HOUR, input_tokens=1200
    )  # fmt: skip
    for each in (gateway, span) if best_first else (span, gateway):
        price(each)

    assert total(Line) == total(ApiHour, "micros") == 2000
    assert Charge.objects.get().hour == NOON
    assert audit_here().adds_up


def test_an_unknown_model_is_listed_unpriced_and_never_free(team_id: int) -> None:
    price(call(team_id, model="house-blend"))
    cost, hour, charge = ApiCost.objects.get(), ApiHour.objects.get(), Charge.objects.get()
    assert (cost.micros, hour.micros, charge.effective_micros) == (None, None, None)
    assert "no price of house-blend" in cost.reason
    assert (hour.unpriced_requests, hour.requests) == (1, 1)
    assert Line.objects.get().effective_micros is None
    assert audit_here().adds_up


def test_a_priced_charge_says_how_many_of_its_calls_are_not(team_id: int) -> None:
    price(call(team_id), call(team_id, tier="bespoke"))
    charge = Charge.objects.get()
    assert charge.effective_micros == 2000
    assert charge.reason.startswith("1 call of 2 has no price")


def test_a_failed_call_costs_nothing_and_is_counted(team_id: int) -> None:
    nothing = {"input_tokens": None, "cached_tokens": None, "output_tokens": None}
    price(
        call(team_id, outcome="rate_limited", **nothing),
        call(team_id, outcome="server_error", **nothing),
        call(team_id),
    )
    hour = ApiHour.objects.get()
    assert (hour.requests, hour.rate_limited, hour.server_errors) == (3, 1, 1)
    assert (hour.unpriced_requests, hour.micros) == (0, 2000)


def test_a_contract_price_takes_the_public_ones_place_and_list_stays(team_id: int) -> None:
    ApiPrice.objects.create(
        vendor="openai",
        model="gpt-4.1*",
        unit="all",
        discount_ratio=Decimal("0.25"),
        period=(NOON - HOUR, None),
    )
    price(call(team_id))
    charge = Charge.objects.get()
    assert (charge.list_micros, charge.contracted_micros, charge.effective_micros) == (
        2000,
        1500,
        1500,
    )


def test_a_changed_price_moves_what_was_priced(team_id: int) -> None:
    price(call(team_id))
    ApiPrice.objects.create(
        vendor="openai",
        model="gpt-4.1",
        unit="input",
        amount=Decimal(1),
        period=(NOON - HOUR, None),
    )
    with transaction.atomic():
        mark_calls(hours=[NOON])
    price()
    assert (total(Line), Charge.objects.count()) == (1000, 1)


def test_a_vendor_booked_by_its_bill_has_no_charge_of_calls(team_id: int) -> None:
    ApiVendor.objects.create(vendor="openai", booked_by="bill")
    price(call(team_id))
    assert ApiHour.objects.get().micros == 2000
    assert not Charge.objects.exists()


def test_calls_are_converted_by_the_months_rate(team_id: int) -> None:
    from apps.accounts.models import Organisation

    Organisation.objects.update(currency="EUR")
    price(call(team_id))
    assert "no rate of exchange from USD to EUR" in ApiCost.objects.get().reason
    assert Charge.objects.get().effective_micros is None
    rate = NewExchangeRate(NOON.date(), "USD", "EUR", Decimal("0.9"))
    state_rate(rate=rate, at=LATER)
    price()
    assert (ApiCost.objects.get().micros, total(Line)) == (1800, 1800)
    assert ApiCost.objects.get().amount == Decimal("0.002")


def test_what_comes_after_a_close_is_posted_only_as_a_correction(team_id: int) -> None:
    price(call(team_id))
    april = datetime(2026, 4, 3, 12, tzinfo=NOON.tzinfo)
    everything = [item.code for item in checklist(date(2026, 3, 1))]
    close_month(request=CloseRequest(date(2026, 3, 1), None, everything), at=april)
    price(call(team_id), at=april)
    assert total(Line) == 2000
    posted = post_corrections(month=date(2026, 3, 1), at=april)
    assert (posted.charges, posted.effective_micros) == (1, 2000)
    assert total(Line) == 4000
    assert audit_here().adds_up


def billed(provider: str, label: str) -> None:
    """A bill's charge of 3 dollars, of whatever was called at noon."""
    bill = Bill.objects.create(
        issuer=provider,
        provider=provider,
        account="org",
        starts_at=NOON,
        ends_at=NOON + HOUR,
        currency="USD",
        created_at=NOON,
        changed_at=NOON,
        reconciled_at=NOON,
    )
    BilledCharge.objects.create(
        bill=bill,
        kind="api",
        billed_kind="other",
        reason="",
        label=label,
        starts_at=NOON,
        ends_at=NOON + HOUR,
        hour=NOON,
        effective_micros=3_000_000,
        rows=1,
    )


@pytest.mark.parametrize(
    ("provider", "label", "is_twice"),
    [
        ("OpenAI, LLC", "API", True),
        ("Microsoft", "Azure OpenAI Service", False),
        ("Amazon Web Services", "Amazon Elastic Compute Cloud", False),
    ],
)
def test_no_month_closes_while_a_vendor_is_booked_by_its_calls_and_by_a_bill(
    team_id: int, provider: str, label: str, *, is_twice: bool
) -> None:
    price(call(team_id))
    billed(provider, label)
    month = NOON.date().replace(day=1)
    twice = [item for item in checklist(month) if item.code == "booked_twice"]
    assert [(item.count, item.micros, item.is_blocking) for item in twice] == (
        [(1, 3_000_000, True)] if is_twice else []
    )
    call_command("book_api_vendor", "openai", "bill")
    price()
    assert "booked_twice" not in {item.code for item in checklist(month)}


@pytest.mark.parametrize(
    ("vendor", "provider", "label", "is_twice"),
    [
        ("x-ai", "xAI", "Grok API", True),
        ("x-ai", "X.AI LLC", "tokens", True),
        ("deepseek", "DeepSeek", "DeepSeek API", True),
        ("moonshotai", "Moonshot AI", "Kimi API", True),
        ("zai", "Z.ai", "API", True),
        ("zhipuai", "Zhipu AI", "API", True),
        ("house_of-brands", "House of Brands", "Inference", True),
        ("nebius", "Nebius B.V.", "Token Factory, tokens", True),
        ("nebius", "Nebius B.V.", "Compute, H100", False),
        ("azure", "Microsoft", "Foundry Models", True),
        ("azure", "Microsoft", "Virtual Machines", False),
        ("together", "Together AI", "Serverless Inference", True),
        ("together", "Together AI", "GPU Clusters", False),
        ("deepseek", "Microsoft", "DeepSeek R1, Foundry Models", False),
        ("groq", "xAI", "Grok API", False),
    ],
)
def test_a_vendor_is_asked_for_by_whatever_name_its_bill_has(
    team_id: int, vendor: str, provider: str, label: str, *, is_twice: bool
) -> None:
    price(call(team_id, vendor=vendor))
    billed(provider, label)
    found = [item.code for item in checklist(NOON.date().replace(day=1))]
    assert ("booked_twice" in found) == is_twice


def test_nothing_is_done_without_a_mark(team_id: int) -> None:
    assert price_hour(hour=NOON, book=books()).changed == 0
    assert not UsageEvent.objects.exists()


def test_a_vendor_is_booked_by_its_bill_from_then_on(team_id: int) -> None:
    price(call(team_id))
    call_command("book_api_vendor", "OpenAI", "bill")
    price()
    assert not Charge.objects.exists()
    call_command("book_api_vendor", "openai", "calls")
    price()
    assert total(Line) == 2000


NOVA = {"vendor": "aws", "model": "amazon.nova-pro-v1:0"}


@pytest.mark.parametrize("name", ["aws", "bedrock", "AWS.Bedrock"])
def test_a_vendor_is_booked_and_priced_by_any_of_its_names(team_id: int, name: str) -> None:
    price(call(team_id, **NOVA))
    public = total(Line)
    enter_price(
        price=EnteredApiPrice(
            name, "*", "all", starts_at=NOON - HOUR, discount_ratio=Decimal("0.5")
        )
    )
    price()
    assert total(Line) * 2 == public > 0
    call_command("book_api_vendor", name, "bill")
    price()
    assert not Charge.objects.exists()


def test_a_vendor_that_nobody_knows_is_refused_with_those_that_are(team_id: int) -> None:
    with pytest.raises(CommandError, match=r"anthropic, .*openai, "):
        call_command("book_api_vendor", "bedrokc", "bill")
    agreed = EnteredApiPrice("house", "*", "all", starts_at=NOON, amount=Decimal(1))
    with pytest.raises(ApiPriceNotUnderstood, match="'house' has no public price and no call"):
        enter_price(price=agreed)
    # A vendor without a price list has contract prices alone: its calls make it known.
    price(call(team_id, vendor="house"))
    assert enter_price(price=agreed)


def test_what_a_gateway_states_stands_beside_our_price_and_is_not_booked(team_id: int) -> None:
    """A thousand tokens are 2,000 micro-units; LiteLLM says 2,500 of one, 0 of another, nothing of a third."""
    stated = call(team_id, source="litellm:0", stated_cost=Decimal("0.0025"))
    silent = call(team_id, source="litellm:0", stated_cost=Decimal(0))
    # The receiver's own answer is counted, and the gateway says what it thinks it cost.
    answer = call(team_id, response_id="r", input_tokens=3000)
    gateway = call(
        team_id,
        source="litellm:0",
        response_id="r",
        input_tokens=3000,
        stated_cost=Decimal("0.006"),
    )
    price(stated, silent, answer, gateway)
    assert total(Line) == 2_000 + 2_000 + 6_000
    (hour,) = ApiHour.objects.all()
    assert (hour.stated_micros, hour.against_micros) == (8_500, 8_000)
    assert audit_here().adds_up
