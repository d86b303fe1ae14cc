"""Charges of the ledger and the lines they are divided into, as rows of FOCUS."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from apps.economics.bases import BilledCosts
from apps.economics.focus.exported import Cell
from apps.economics.focus.identities import ONE, hours_of, machine_hours, money, parts_of, priced
from apps.economics.focus.names import provider_name
from apps.economics.states import State

FocusRow = dict[str, Cell]
BASES = ("BilledCost", "EffectiveCost", "ContractedCost", "ListCost")
NODE_HOUR, SHARED, PURCHASE, UNUSED = "node_hour", "shared", "purchase", "commitment_unused"
CATEGORIES = {PURCHASE: "Purchase", "credit": "Credit", "tax": "Tax"}
FREQUENCIES = {
    **dict.fromkeys((PURCHASE, "credit", "tax"), "One-Time"),
    **dict.fromkeys((SHARED, "owned_unused"), "Recurring"),
}
OPTIONS = {"on_demand": "Standard", "spot": "Dynamic", "owned": "Other"}
SERVICES = {
    "compute": ("Compute", "Other (Compute)", "Other compute"),
    "disk": ("Storage", "Other (Storage)", "Storage"),
    "network": ("Networking", "Other (Networking)", "Networking"),
    NODE_HOUR: ("Compute", "Virtual Machines", "GPU machines"),
}
OTHER = ("Other", "Other (Other)", "Other services")
STATES = {state: state.name.title().replace("_", "") for state in State}
UNITS = {"gpu": "GPU Hours", "core": "Core Hours"}


@dataclass(frozen=True, slots=True)
class BilledBy:
    """The month that a file is of, whose books it is from, and the invoices of bills by their ids.

    A bill that names several invoices, or none, is not in it. `spelt` has one spelling of each
    provider's name, by the name without case.
    """

    organisation: str
    starts_at: datetime
    ends_at: datetime
    invoices: Mapping[int, str]
    spelt: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChargeFacts:
    """A charge as the ledger has it; texts are empty where they do not apply.

    `lived_ms` is the machine time of a node-hour. `corrects_month` is set on a correction of an
    earlier month (YYYY-MM); its period is that of what it corrects. `commitment_id` is what the
    provider calls what covers it, or was not used; `commitment_kind` is empty where only a bill
    tells of it.
    """

    id: int
    kind: str
    status: str
    currency: str
    starts_at: datetime
    ends_at: datetime
    corrects_month: str
    reason: str
    lived_ms: int
    commitment_id: str
    commitment: str
    commitment_kind: str
    node_id: str
    node: str
    pool: str
    unit: str
    provider: str
    region: str
    instance_type: str
    gpu_model: str
    purchase_option: str
    billed_kind: str
    label: str
    method: str
    bill_id: int
    issuer: str
    bill_provider: str
    account: str


@dataclass(frozen=True, slots=True)
class PartFacts:
    """A line: the part of a charge that one owner, holder and state carries."""

    costs: BilledCosts
    unit_ms: int
    team_id: int
    team: str
    cost_centre: str
    workload: str
    workload_kind: str
    job_id: str
    job: str
    holder: str
    state: int
    policy_version: str


def rows_of(charge: ChargeFacts, parts: Sequence[PartFacts], by: BilledBy) -> Iterator[FocusRow]:
    """The rows of one charge: it alone where one line carries it all, else a row for every line.

    Rows of a divided charge copy what it is and have no unit prices; their quantities and costs
    sum to the charge's exactly. A charge of its own has List- and ContractedCost that are the
    unit price × PricingQuantity to the last digit.
    """
    dimensions = _dimension_columns(charge, by)
    if len(parts) == 1:
        (part,) = parts
        row = dimensions | _carried_by(part)
        yield _in_its_currency(row | _undivided_row(charge, part))
        return
    yield from _divided_rows(charge, parts, dimensions)


def _undivided_row(charge: ChargeFacts, part: PartFacts) -> FocusRow:
    quantity = _pricing_quantity(charge)
    if not _is_countable(charge, part.costs):
        quantity = None
    listed = priced(part.costs.listed, quantity)
    contracted = priced(part.costs.contracted, quantity)
    consumed = _consumed_quantity(charge, part.unit_ms)
    return {
        "BilledCost": money(part.costs.billed or 0),
        "EffectiveCost": money(part.costs.effective or 0),
        "ContractedCost": contracted.cost,
        "ContractedUnitPrice": contracted.unit_price,
        "ListCost": listed.cost,
        "ListUnitPrice": listed.unit_price,
        **_quantity_columns(charge, quantity, consumed),
    }


def _divided_rows(
    charge: ChargeFacts, parts: Sequence[PartFacts], dimensions: FocusRow
) -> Iterator[FocusRow]:
    weights = [part.unit_ms for part in parts]
    ratios = parts_of(ONE, weights)
    quantity = _pricing_quantity(charge)
    of_quantity = [None] * len(parts) if quantity is None else parts_of(quantity, weights)
    total = _consumed_quantity(charge, sum(weights))
    of_consumed = [None] * len(parts) if total is None else parts_of(total, weights)
    for part, ratio, priced_by, consumed in zip(
        parts, ratios, of_quantity, of_consumed, strict=True
    ):
        yield _in_its_currency(
            dimensions
            | _carried_by(part)
            | _allocation_columns(charge, part, ratio)
            | _quantity_columns(charge, priced_by, consumed)
            | {
                "BilledCost": money(part.costs.billed or 0),
                "EffectiveCost": money(part.costs.effective or 0),
                "ContractedCost": money(part.costs.contracted or 0),
                "ListCost": money(part.costs.listed or 0),
            }
        )


def _in_its_currency(row: FocusRow) -> FocusRow:
    """Priced and charged in one currency: a charge was converted once, when it was made."""
    row["PricingCurrencyContractedUnitPrice"] = row.get("ContractedUnitPrice")
    row["PricingCurrencyEffectiveCost"] = row["EffectiveCost"]
    row["PricingCurrencyListUnitPrice"] = row.get("ListUnitPrice")
    return row


def _is_countable(charge: ChargeFacts, costs: BilledCosts) -> bool:
    """Whether its costs are so many times a price: not what is given back."""
    return (costs.listed or 0) >= 0 and (costs.contracted or 0) >= 0


def _pricing_quantity(charge: ChargeFacts) -> Decimal | None:
    """Machine hours of a node-hour, one of anything else; corrections, credits and taxes have none."""
    if charge.corrects_month or charge.kind in ("credit", "tax"):
        return None
    return machine_hours(charge.lived_ms) if charge.kind == NODE_HOUR else ONE


def _consumed_quantity(charge: ChargeFacts, unit_ms: int) -> Decimal | None:
    """Return the quantity used: device hours of a node-hour, one of what a bill asks for beside it."""
    if _charge_category(charge) != "Usage" or charge.kind == UNUSED or charge.corrects_month:
        return None
    return hours_of(unit_ms) if charge.kind == NODE_HOUR else ONE


def _quantity_columns(
    charge: ChargeFacts, quantity: Decimal | None, consumed: Decimal | None
) -> FocusRow:
    is_node_hour = charge.kind == NODE_HOUR
    unit = "Hours" if is_node_hour else "Unit"
    used = UNITS.get(charge.unit, "Hours") if is_node_hour else "Unit"
    committed = quantity if charge.commitment_id else None
    return {
        "PricingQuantity": quantity,
        "PricingUnit": None if quantity is None else unit,
        "ConsumedQuantity": consumed,
        "ConsumedUnit": None if consumed is None else used,
        "CommitmentDiscountQuantity": committed,
        "CommitmentDiscountUnit": None if committed is None else unit,
    }


def _charge_category(charge: ChargeFacts) -> str:
    return CATEGORIES.get(charge.kind, "Usage")


def _dimension_columns(charge: ChargeFacts, by: BilledBy) -> FocusRow:
    """All that is said of a charge beside amounts and owners."""
    provider = provider_name(charge.bill_provider or charge.provider or by.organisation, by.spelt)
    issuer = provider_name(charge.issuer, by.spelt)
    if not issuer:
        is_ours = charge.purchase_option == "owned" or charge.kind == SHARED
        issuer = by.organisation if is_ours else provider
    category, subcategory, service = _service_names(charge)
    return {
        "BillingAccountId": charge.account or by.organisation,
        "BillingAccountName": charge.account or by.organisation,
        "BillingCurrency": charge.currency,
        "BillingPeriodStart": by.starts_at,
        "BillingPeriodEnd": by.ends_at,
        "ChargeCategory": _charge_category(charge),
        "ChargeClass": "Correction" if charge.corrects_month else None,
        "ChargeDescription": _charge_description(charge),
        "ChargeFrequency": FREQUENCIES.get(charge.kind, "Usage-Based"),
        "ChargePeriodStart": charge.starts_at,
        "ChargePeriodEnd": charge.ends_at,
        "InvoiceId": by.invoices.get(charge.bill_id),
        "InvoiceIssuerName": issuer,
        "PricingCurrency": charge.currency,
        # Who invoices has sold it, a reseller too; on whose machines it runs is told beside that.
        "ProviderName": issuer,
        "PublisherName": provider,
        "ServiceProviderName": issuer,
        "HostProviderName": provider,
        "RegionId": charge.region or None,
        "RegionName": charge.region or None,
        "ResourceId": charge.node_id or charge.node or None,
        "ResourceName": charge.node or None,
        "ResourceType": "Machine" if charge.node else None,
        "ServiceCategory": category,
        "ServiceName": service,
        "ServiceSubcategory": subcategory,
        "Tags": _json_text({"pool": charge.pool}) if charge.pool else None,
        "x_ChargeId": str(charge.id),
        "x_ChargeKind": charge.kind,
        "x_CorrectsMonth": charge.corrects_month or None,
        "x_GpuModel": charge.gpu_model or None,
        "x_ReconciliationStatus": charge.status.capitalize(),
        **_sku_columns(charge),
        **_commitment_columns(charge),
    }


def _service_names(charge: ChargeFacts) -> tuple[str, str, str]:
    return SERVICES.get(NODE_HOUR if charge.kind == NODE_HOUR else charge.billed_kind, OTHER)


def _charge_description(charge: ChargeFacts) -> str:
    what = charge.node or charge.label or charge.commitment or charge.kind.replace("_", " ")
    return f"{what}: {charge.reason}" if charge.reason else what


def _sku_columns(charge: ChargeFacts) -> FocusRow:
    """Return the columns of what is priced: a type of machine, or a kind of a bill's costs. Taxes have none."""
    if charge.kind == "tax":
        return {}
    if charge.kind != NODE_HOUR:
        sku = charge.billed_kind or charge.kind
        return {
            "PricingCategory": "Committed" if charge.kind == UNUSED else "Other",
            "SkuId": sku,
            "SkuMeter": charge.kind.replace("_", " ").capitalize(),
            "SkuPriceId": sku,
        }
    option = charge.purchase_option
    sku = charge.instance_type or charge.gpu_model or charge.pool
    details = {"InstanceType": charge.instance_type, "x_GpuModel": charge.gpu_model}
    sku_details = {name: text for name, text in details.items() if text}
    return {
        "PricingCategory": "Committed"
        if charge.commitment_id
        else OPTIONS.get(option, "Committed"),
        "SkuId": sku,
        "SkuMeter": "Machine hours",
        "SkuPriceDetails": _json_text(sku_details) if sku_details else None,
        "SkuPriceId": f"{sku}/{charge.region or charge.pool}/{option}",
    }


def _commitment_columns(charge: ChargeFacts) -> FocusRow:
    if not charge.commitment_id:
        return {}
    return {
        "CommitmentDiscountCategory": "Spend"
        if charge.commitment_kind == "savings_plan"
        else "Usage",
        "CommitmentDiscountId": charge.commitment_id,
        "CommitmentDiscountName": charge.commitment or charge.label or charge.commitment_id,
        "CommitmentDiscountStatus": None
        if charge.kind == PURCHASE
        else ("Unused" if charge.kind == UNUSED else "Used"),
        "CommitmentDiscountType": charge.commitment_kind.replace("_", " ").capitalize()
        or "Commitment",
    }


def _carried_by(part: PartFacts) -> FocusRow:
    costs = part.costs
    amounts = (costs.billed, costs.effective, costs.contracted, costs.listed)
    unknown = [name for name, amount in zip(BASES, amounts, strict=True) if amount is None]
    return {
        "x_CostCentre": part.cost_centre or None,
        "x_GpuState": STATES[State(part.state)] if part.state else None,
        "x_JobId": part.job or None,
        "x_PolicyVersion": part.policy_version or None,
        "x_TeamId": str(part.team_id),
        "x_TeamName": part.team,
        "x_UnknownCosts": " ".join(unknown) or None,
        "x_WorkloadName": part.workload or None,
        "x_WorkloadType": part.workload_kind.capitalize() or None,
    }


def _allocation_columns(charge: ChargeFacts, part: PartFacts, ratio: Decimal) -> FocusRow:
    """To what a part goes and by which method, in the words of 1.4 and as columns of our own."""
    resource, name = _allocated_resource(part)
    tags = {"team": part.team, "workload": part.workload, "cost_centre": part.cost_centre}
    detail: dict[str, object] = {"AllocatedRatio": float(ratio)}
    if charge.kind == NODE_HOUR:
        used = {
            "UsageUnit": UNITS.get(charge.unit, "Hours"),
            "UsageQuantity": float(hours_of(part.unit_ms)),
        }
        detail |= used
    return {
        "AllocatedMethodDetails": _json_text({"Elements": [detail]}),
        "AllocatedMethodId": _allocation_method(charge, part),
        "AllocatedResourceId": resource,
        "AllocatedResourceName": name,
        "AllocatedTags": _json_text({key: text for key, text in tags.items() if text}),
    }


def _allocated_resource(part: PartFacts) -> tuple[str, str]:
    """The job, process, or owner and state that a line is of."""
    if part.job:
        return f"job/{part.job_id}", part.job
    if part.holder:
        return f"process/{part.holder}", part.holder
    if part.state:
        state = STATES[State(part.state)]
        return f"team/{part.team_id}/{state}", f"{part.team}: {state}"
    return f"team/{part.team_id}", part.team


def _allocation_method(charge: ChargeFacts, part: PartFacts) -> str:
    if charge.kind == SHARED:
        return f"shared-cost/{charge.method or 'unknown'}"
    version = part.policy_version
    return f"device-time/policy-{version}" if version else "device-time"


def _json_text(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False)
