"""The columns that sums of lines have in common, over whatever they are summed."""

from django.db import models

from apps.ledger.models.charges import ChargeKind, Status


class CostSums(models.Model):
    """Lines of one state and one set of flags, summed: micro-units on each basis, and units of capacity by time."""

    state = models.SmallIntegerField(null=True)
    flags = models.SmallIntegerField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    unit_milliseconds = models.BigIntegerField()
    unpriced_milliseconds = models.BigIntegerField()

    class Meta:
        abstract = True


class PostedSums(CostSums):
    """Lines of one month of the books, one kind and one status, summed."""

    posting_month = models.DateField()
    status = models.TextField(choices=Status.choices)
    kind = models.TextField(choices=ChargeKind.choices)

    class Meta:
        abstract = True
