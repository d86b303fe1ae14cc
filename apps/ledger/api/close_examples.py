"""Examples of the requests for closed months, and of their answers."""

from apps.web.rest.examples import answered, dollars, listed, sent

_CLOSE = {
    "id": 2,
    "month": "2026-01",
    "version": 1,
    "closed_at": "2026-02-03T08:00:00Z",
    "closed_by": "Fay",
    "note": "",
    "cut_off": "2026-02-03T08:00:00Z",
    "invoices": "A Cloud 1234: 1 Jan 00:00 to 31 Jan 24:00 by the invoice of 1 Jan 00:00 to 31 Jan 24:00",
    "lines": 2011,
    "digest": "9f2c6a0e6a3b",
    "accepted": ["unbilled"],
    "list": dollars("1983310.500000"),
    "contracted": dollars("1488200.110000"),
    "effective": dollars("1201377.930906"),
    "billed": dollars("1318040.520227"),
    "reopened_at": None,
    "reopen_reason": "",
}
CLOSES = listed("Closes", _CLOSE)
CLOSE = answered("Close", _CLOSE, 201)
NEW_CLOSE = sent("New close", {"month": "2026-01", "accept": [], "note": "as agreed"})
STATEMENTS = listed(
    "Statements",
    {
        "team_id": 4,
        "team": "Research",
        "cost_centre": "CC-100",
        "gpu_hours": 812.5,
        "unpriced_gpu_hours": 0.0,
        "effective": dollars("49160.000000"),
        "billed": dollars("49160.000000"),
        "corrections": None,
    },
)
JOURNAL = listed(
    "Journal",
    {
        "cost_centre": "CC-100",
        "team": "Research",
        "account": "GPU compute",
        "gl_code": "6120",
        "amount": dollars("49160.00"),
        "debit": dollars("49160.00"),
        "credit": None,
    },
)
