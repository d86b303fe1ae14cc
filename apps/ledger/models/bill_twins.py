"""Bills that may be the same money, and what people decided on them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.ledger.models.bills import Bill, BillImport


class TwinChoice(models.TextChoices):
    """The choice of which of two bills that may be the same money counts."""

    NEW = "new", "the new one"
    OLD = "old", "the old one"
    BOTH = "both", "both: they are two bills"


class BillTwin(models.Model):
    """Two bills of one payer, provider, period and currency that may be the same money.

    `batch` is the delivery that is held until somebody says which counts; null where both were in
    force before anybody asked. `other` is the older one, and may be `bill` itself, where a file of
    another kind is to be added to it. `choice` is empty until somebody decides. `gave_way_to` is the
    delivery of the older one that the rows of `bill` are replaced by meanwhile; null where both
    count, for their month is closed.
    """

    bill = models.ForeignKey(Bill, on_delete=models.PROTECT, related_name="+")
    other = models.ForeignKey(Bill, on_delete=models.PROTECT, related_name="+")
    batch = models.ForeignKey(BillImport, on_delete=models.PROTECT, null=True, related_name="twins")
    gave_way_to = models.ForeignKey(
        BillImport, on_delete=models.PROTECT, null=True, related_name="+"
    )
    why = models.TextField()
    choice = models.TextField(choices=TwinChoice.choices, blank=True, default="")
    noticed_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    reason = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["bill", "other"], condition=Q(choice=""), name="bill_twin_asked_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.bill_id} and {self.other_id}"

    @property
    def both_count(self) -> bool:
        """Whether their money counts twice, as far as anybody knows, until somebody decides."""
        return not self.choice and self.batch_id is None and self.gave_way_to_id is None
