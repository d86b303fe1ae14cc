"""Places: what moving data between them costs, and which GPUs are where, as somebody entered it."""

import pghistory
from django.db import models
from django.db.models import Q


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class EgressPrice(models.Model):
    """US dollars for a gigabyte (10⁹ bytes) from one region to another, each as `provider:region`."""

    source_place = models.TextField()
    target_place = models.TextField()
    usd_per_gb = models.DecimalField(max_digits=18, decimal_places=9)
    source = models.TextField(blank=True, default="")
    entered_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source_place", "target_place"], name="egress_price_once"
            ),
            models.CheckConstraint(
                condition=Q(usd_per_gb__gte=0), name="egress_price_is_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source_place} to {self.target_place}: {self.usd_per_gb}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class AcceleratorRegion(models.Model):
    """A region in which a provider has GPUs of a model (as the catalogue names it), as somebody entered it.

    Where a model has any row of a provider, no other region of that provider has it, whatever is priced there.
    """

    provider = models.TextField()
    region = models.TextField()
    gpu_model = models.TextField()
    source = models.TextField(blank=True, default="")
    entered_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "gpu_model", "region"], name="accelerator_region_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.gpu_model} in {self.provider}:{self.region}"
