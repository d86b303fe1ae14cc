"""Examples of the requests for bill imports, and of their answers."""

from drf_spectacular.utils import OpenApiExample

from apps.ledger.api.examples import BILL
from apps.web.rest.examples import answered, dollars, listed

_FILE = (
    "BilledCost,EffectiveCost,BillingAccountId,BillingCurrency,BillingPeriodStart,"
    "BillingPeriodEnd,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,InvoiceIssuerName\n"
    "55.04,55.04,1234,USD,2026-07-01T00:00:00Z,2026-08-01T00:00:00Z,Usage,"
    "2026-07-03T10:00:00Z,2026-07-03T11:00:00Z,A Cloud\n"
)
_IMPORT = {
    "id": 7,
    "address": "https://runrate.example.org/api/v1/bills/imports/7",
    "name": "july.csv",
    "layout": "FOCUS 1.2",
    "addition": False,
    "state": "done",
    "rows": 1018240,
    "imported": 1018238,
    "unchanged": 0,
    "replaced": 0,
    "rejected": 2,
    "rejected_rows": "https://runrate.example.org/api/v1/bills/imports/7/rejected",
    "totals": [
        {
            "currency": "USD",
            "billed": "1318040.52022672899",
            "effective": "1201377.93090575119",
            "list": "1983310.5",
            "contracted": "1488200.11",
        }
    ],
    "flags": [],
    "bills": [3],
    "size_bytes": 184028192,
    "failure": "",
    "by": "Fay",
    "started_at": "2026-08-03T08:00:00Z",
    "ended_at": "2026-08-03T08:01:10Z",
    "undone_at": None,
    "accepted_at": None,
    "accepted_by": None,
    "accepted_reason": "",
}
BILL_IMPORTS = listed("Bill imports", _IMPORT)
BILL_IMPORT = answered("Bill import", _IMPORT, 200, 202)
UNDONE_BILL_IMPORT = answered(
    "Undone bill import", _IMPORT | {"state": "undone", "undone_at": "2026-08-03T09:00:00Z"}
)
_NOTHING_TAKEN = _IMPORT | {
    **dict.fromkeys(("rows", "imported", "rejected"), 0),
    "layout": "",
    "totals": [],
    "bills": [],
}
CALLED_OFF_BILL_IMPORT = answered(
    "Bill import called off",
    _NOTHING_TAKEN | {"state": "failed", "failure": "it was called off"},
)
BILL_IMPORT_READ_AGAIN = answered(
    "Bill import read again", _NOTHING_TAKEN | {"state": "waiting", "ended_at": None}, 202
)
NEW_BILL_ACCEPTANCE = OpenApiExample(
    "New bill acceptance",
    {"reason": "two marketplace rows of $0.00, the issuer knows"},
    request_only=True,
)
ACCEPTED_BILL_IMPORT = answered(
    "Accepted bill import",
    _IMPORT
    | {
        "accepted_at": "2026-08-03T09:00:00Z",
        "accepted_by": "Fay",
        "accepted_reason": "two marketplace rows of $0.00, the issuer knows",
    },
)
_TWIN_SIDE = {
    "id": 4,
    "issuer": "AWS",
    "account": "123456789012",
    "starts_at": "2026-07-01T00:00:00Z",
    "ends_at": "2026-08-01T00:00:00Z",
    "currency": "USD",
    "billed": "61",
}
_TWIN = {
    "id": 2,
    "why": "Amazon Web Services, Inc. and AWS are one provider",
    "new": _TWIN_SIDE,
    "old": _TWIN_SIDE | {"id": 3, "issuer": "Amazon Web Services, Inc.", "billed": "122"},
    "import_id": 8,
    "both_count": False,
    "choice": None,
    "noticed_at": "2026-08-03T08:01:10Z",
    "decided_at": None,
    "decided_by": None,
    "reason": "",
}
BILL_TWINS = listed("Bill twins", _TWIN)
NEW_TWIN_CHOICE = OpenApiExample(
    "New choice of a bill twin",
    {"choice": "old", "reason": "the export was made twice"},
    request_only=True,
)
DECIDED_BILL_TWIN = answered(
    "Decided bill twin",
    _TWIN
    | {
        "choice": "old",
        "decided_at": "2026-08-03T09:00:00Z",
        "decided_by": "Fay",
        "reason": "the export was made twice",
    },
)
NEW_BILL_IMPORT = OpenApiExample(
    "New bill import",
    {"file": _FILE, "addition": False},
    request_only=True,
    media_type="multipart/form-data",
)
REJECTED_BILL_ROWS = listed(
    "Rejected bill rows",
    {"line": 812, "field": "BilledCost", "reason": "'n/a' is not an amount"},
)


BILL_WITH_VARIANCE = answered(
    "Bill",
    BILL
    | {
        "reconciliation": {
            "billed": dollars("366.000000"),
            "estimated": dollars("393.280000"),
            "price": dollars("-27.280000"),
            "quantity": dollars("0.000000"),
            "missing": dollars("0.000000"),
            "unmatched": dollars("0.000000"),
            "shared": dollars("0.000000"),
            "unbilled": [
                {"node": "gpu-07", "pool": "h100", "hours": 2, "estimated": dollars("196.640000")}
            ],
            "apart": [
                {
                    "charge_kind": "unmatched",
                    "kind": "compute",
                    "reason": "no node has this resource id",
                    "what": "i-0ab",
                    "team": "Platform",
                    "rows": 3,
                    "effective": dollars("12.500000"),
                    "billed": dollars("12.500000"),
                }
            ],
        }
    },
)
