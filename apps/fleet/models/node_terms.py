"""How nodes were bought, beside what their pool says: by who tells it."""

from django.db import models


class ToldBy(models.TextChoices):
    """Who told it; of two the first is believed."""

    PERSON = "person", "a person"
    CLOUD = "cloud", "its cloud"
    BILL = "bill", "its bill"


class NodeTerms(models.Model):
    """The terms of a node that one source tells, for as long as it lives; an empty text says nothing.

    `platform` and `tenancy` are words of `economics.use_terms`; `account` is an account, a project, or a
    subscription and its resource group; `reservation` the capacity reservation or block that it runs in.
    """

    node = models.ForeignKey("fleet.Node", on_delete=models.PROTECT, related_name="terms")
    told_by = models.TextField(choices=ToldBy.choices)
    platform = models.TextField(blank=True, default="")
    tenancy = models.TextField(blank=True, default="")
    account = models.TextField(blank=True, default="")
    reservation = models.TextField(blank=True, default="")
    told_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["node", "told_by"], name="node_terms_told_once")
        ]

    def __str__(self) -> str:
        return f"{self.node_id} by {self.told_by}"
