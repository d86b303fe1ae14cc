"""Django's registration of this app."""

from collections.abc import Mapping
from typing import ClassVar

from django.apps import AppConfig

DIGESTING = "apps.ledger.actions.close.digesting"


class LedgerConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.ledger"
    label = "ledger"
    # What closed months say of people has digests of its own, renewed where a name was taken out.
    reseals: ClassVar[Mapping[str, str]] = {
        "charge": f"{DIGESTING}.renew_charges",
        "chargepiece": f"{DIGESTING}.renew_pieces",
        "settlement": f"{DIGESTING}.renew_settlements",
        "ledgerday": f"{DIGESTING}.renew_days",
        "ledgermonth": f"{DIGESTING}.renew_months",
        "ledgeruserday": f"{DIGESTING}.renew_user_days",
        "bill": f"{DIGESTING}.renew_bills",
        "billrow": f"{DIGESTING}.renew_bill_rows",
        "billedcharge": f"{DIGESTING}.renew_billed_charges",
        "close": f"{DIGESTING}.renew_closes",
    }
    # An export that holds a name which was taken out is deleted: it can be made again.
    forgets_file = "apps.ledger.actions.exports.forget_stored_export"
