"""Examples of the requests for commitments, and of their answers."""

from apps.web.rest.examples import answered, listed, sent

_COMMITMENT = {
    "id": 4,
    "name": "two p5 for a year",
    "kind": "reserved",
    "provider": "aws",
    "region": "us-east-1",
    "instance_type": "p5.48xlarge",
    "gpu_model": "",
    "pool": None,
    "units": 2,
    "unit": "node",
    "spend": "0.000000000",
    "prices": {},
    "upfront": "250000.000000000",
    "hourly": "35.120000000",
    "currency": "USD",
    "starts_at": "2026-03-02T12:00:00Z",
    "ends_at": "2027-03-02T12:00:00Z",
    "hours": 8760,
    "ended_at": None,
    "owner": None,
    "external_id": "",
    "platform": "linux",
    "tenancy": "default",
    "account": "210987654321",
    "is_shared": True,
    "source": "order 2026-17",
}
COMMITMENTS = listed("Commitments", _COMMITMENT)
COMMITMENT = answered("Commitment", _COMMITMENT)
ENTERED_COMMITMENT = answered("Entered commitment", _COMMITMENT | {"remarks": []}, 200, 201)
NEW_COMMITMENT = sent(
    "New commitment",
    {
        "name": "eight p5 for half a year",
        "kind": "reserved",
        "provider": "aws",
        "region": "us-east-1",
        "instance_type": "p5.48xlarge",
        "units": 8,
        "platform": "Linux/UNIX",
        "account": "210987654321",
        "upfront": "250000",
        "hourly": "35.12",
        "currency": "USD",
        "starts_at": "2026-03-02T12:00:00Z",
        "ends_at": "2026-09-02T12:00:00Z",
        "source": "order 2026-17",
    },
)
COMMITMENT_END = sent("Early end", {"ended_at": "2026-03-02T18:00:00Z"})
ENDED_COMMITMENT = answered(
    "Ended commitment",
    _COMMITMENT | {"ends_at": "2026-03-02T18:00:00Z", "ended_at": "2026-03-02T18:00:00Z"},
)
