"""The ledger's tables."""

from apps.ledger.models.bill_twins import BillTwin, TwinChoice
from apps.ledger.models.bills import (
    Bill,
    BilledCharge,
    BilledHour,
    BilledKind,
    BilledMatch,
    BillImport,
    BillImportState,
    BillRow,
    BillRule,
    RejectedBillRow,
)
from apps.ledger.models.calls import ApiCost, ApiHour, ApiItem, VendorCost
from apps.ledger.models.charges import (
    Charge,
    ChargeKind,
    ChargePart,
    ChargePiece,
    Line,
    Settlement,
    Status,
)
from apps.ledger.models.closes import (
    Close,
    CorrectedHour,
    DigestOrigin,
    LateEstimate,
    MonthDigest,
    StatementLine,
)
from apps.ledger.models.exports import Export, ExportState, ExportWhat, FileForm
from apps.ledger.models.personal import PERSONAL_FIELDS
from apps.ledger.models.rollups import (
    ClockSweep,
    LedgerDay,
    LedgerJobDay,
    LedgerMonth,
    LedgerNodeDay,
    LedgerPoolDay,
    LedgerTeamDay,
    LedgerUserDay,
    MeterDay,
)
