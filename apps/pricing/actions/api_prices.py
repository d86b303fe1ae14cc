"""Contract prices of model APIs, and which record of a vendor's calls is booked."""

from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from django.db import transaction

from apps.economics.currencies import CURRENCY_CODE
from apps.economics.refusal import Refusal
from apps.economics.vendor_names import vendor_named
from apps.pricing.models import ApiPrice, ApiVendor
from apps.pricing.queries.kept_amounts import (
    KEPT_DECIMALS,
    LARGEST,
    rounding_remark,
    stored_amount,
)
from apps.show.entries import Entry

UNITS = {
    "all": "everything",
    "input": "input tokens",
    "cached": "cached input tokens",
    "cache_write": "cache-write tokens",
    "output": "output tokens",
    "request": "requests",
}
BOOKED_BY = ("calls", "bill")


class ApiPriceNotUnderstood(Refusal):
    """A contract price that could price nothing."""


class ApiPriceOverlaps(Refusal):
    """Two contract prices of one unit of one model at one time: nobody could say which is meant."""


class ApiPriceAlreadyEnded(Refusal):
    """A contract price ends once; what it priced before stays priced."""


@dataclass(frozen=True, slots=True)
class EnteredApiPrice:
    """A contract price from `starts_at` on: an amount for a quantity, or a share off."""

    vendor: Annotated[
        str, Entry("Vendor", "As calls name it: openai, anthropic, google, aws (or bedrock).")
    ]
    model: Annotated[
        str,
        Entry(
            "Model",
            "A * at its end: all names that begin so.",
            "may end in * for all names that begin so",
        ),
    ]
    unit: Annotated[str, Entry("What it prices", choices=UNITS, initial="input")]
    starts_at: Annotated[datetime, Entry("From", is_now=True)]
    ends_at: Annotated[datetime | None, Entry("To", "Empty: until it is ended.")] = None
    tier: Annotated[str, Entry("Tier", "Such as batch; empty: the ordinary one.")] = ""
    amount: Annotated[Decimal | None, Entry("Amount", "Or a discount, not both.")] = None
    per_quantity: Annotated[
        int,
        Entry(
            "Price for so many",
            "Tokens, or requests.",
            least=1,
            most=10**12,
            example="1000000",
            initial="1000000",
        ),
    ] = 1_000_000
    currency: Annotated[str, Entry("Currency", pattern=CURRENCY_CODE, longest=3, initial="USD")] = (
        "USD"
    )
    discount_ratio: Decimal | None = None
    remark: str = ""

    def __post_init__(self) -> None:
        """Vendor and amount as they are kept, whichever way they come in.

        `remark` says how the amount was rounded.
        """
        object.__setattr__(self, "vendor", vendor_named(self.vendor))
        if self.amount is not None:
            rounded_amount = stored_amount(self.amount)
            object.__setattr__(
                self, "remark", self.remark or rounding_remark(self.amount, rounded_amount)
            )
            object.__setattr__(self, "amount", rounded_amount)


def check_api_price(price: EnteredApiPrice) -> None:
    """Refuse ApiPriceNotUnderstood and ApiPriceOverlaps."""
    for field, message in _faults_of_price(price):
        raise ApiPriceNotUnderstood(field, f"{message}")
    same = ApiPrice.objects.filter(
        vendor=price.vendor,
        model=price.model,
        tier=price.tier,
        unit=price.unit,
        period__overlap=(price.starts_at, price.ends_at),
    )
    existing_price = same.order_by("id").first()
    if existing_price is not None:
        raise ApiPriceOverlaps(
            "starts_at",
            f"price {existing_price.pk} of {price.model}, {UNITS[price.unit]}, holds then; end it first",
        )


@transaction.atomic
def add_api_price(*, price: EnteredApiPrice) -> int:
    """Enter a contract price; its id. What was priced already is the caller's to have done again.

    Refuses ApiPriceNotUnderstood and ApiPriceOverlaps.
    """
    # Two that are entered at once must not both find the place free.
    list(ApiPrice.objects.select_for_update().filter(vendor=price.vendor).order_by("id"))
    check_api_price(price)
    columns = {
        field.name: getattr(price, field.name)
        for field in fields(price)
        if field.name not in ("starts_at", "ends_at", "remark")
    }
    return ApiPrice.objects.create(**columns, period=(price.starts_at, price.ends_at)).pk


@transaction.atomic
def end_api_price(*, price_id: int, ended_at: datetime) -> None:
    """It holds until `ended_at`. Refuses ApiPriceAlreadyEnded and ApiPriceNotUnderstood."""
    row = ApiPrice.objects.select_for_update().get(pk=price_id)
    since, until = row.period.lower, row.period.upper
    if until is not None and until <= ended_at:
        raise ApiPriceAlreadyEnded("", f"it ended at {until:%Y-%m-%d %H:%M}Z")
    if since is not None and ended_at <= since:
        raise ApiPriceNotUnderstood("ended_at", f"it begins only at {since:%Y-%m-%d %H:%M}Z")
    row.period = (since, ended_at)
    row.save(update_fields=["period"])


def book_vendor(*, vendor: str, booked_by: str) -> bool:
    """Say which record of a vendor's calls goes to the ledger; whether that changed anything."""
    if booked_by not in BOOKED_BY or not vendor:
        raise ApiPriceNotUnderstood("booked_by", f"it is one of {', '.join(BOOKED_BY)}")
    vendor_row, is_new = ApiVendor.objects.get_or_create(
        vendor=vendor, defaults={"booked_by": booked_by}
    )
    if is_new or vendor_row.booked_by == booked_by:
        return is_new and booked_by == "bill"
    vendor_row.booked_by = booked_by
    vendor_row.save(update_fields=["booked_by"])
    return True


def _faults_of_price(price: EnteredApiPrice) -> list[tuple[str, str]]:
    faults = [
        (name, "is required") for name in ("vendor", "model") if not getattr(price, name).strip()
    ]
    if "*" in price.model[:-1]:
        faults.append(("model", "only its end may be left open, as in gpt-4.1*"))
    if price.unit not in UNITS:
        faults.append(("unit", f"is one of {', '.join(UNITS)}"))
    if price.ends_at is not None and price.ends_at <= price.starts_at:
        faults.append(("ends_at", "it must end after it starts"))
    return faults + _faults_of_money(price)


def _faults_of_money(price: EnteredApiPrice) -> list[tuple[str, str]]:
    faults = []
    if (price.amount is None) == (price.discount_ratio is None):
        faults.append(("amount", "say an amount or a discount, and not both"))
    amount, share = price.amount, price.discount_ratio
    if amount is not None and not (amount.is_finite() and 0 <= amount < LARGEST):
        faults.append(("amount", f"is an amount of 0 or more, below {LARGEST:,}"))
    elif amount and not round(amount, KEPT_DECIMALS):
        faults.append(
            (
                "amount",
                "would be 0 with the 9 decimals that are kept; quote it for a larger quantity",
            )
        )
    if share is not None and not (
        share.is_finite() and 0 <= share <= 1 and share == round(share, 8)
    ):
        faults.append(("discount_ratio", "is a share between 0 and 1 with at most 8 decimals"))
    if not 1 <= price.per_quantity <= 10**12:
        faults.append(("per_quantity", "is at least 1"))
    code = price.currency
    if not (len(code) == 3 and code.isascii() and code.isupper()):
        faults.append(("currency", "is a code such as EUR"))
    return faults
