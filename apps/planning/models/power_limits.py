"""How much power and cooling a room has for its machines."""

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class PowerLimit(models.Model):
    """A room with the pools whose nodes stand in it; a pool is in one room at most.

    `power_kilowatts` are at the room's meter, where each kilowatt of the machines counts `pue` times;
    `cooling_kilowatts` are of heat that is carried off, which is what the machines draw. None: not said.
    """

    name = models.TextField(unique=True)
    pool_ids = ArrayField(models.BigIntegerField())
    power_kilowatts = models.DecimalField(max_digits=12, decimal_places=3)
    cooling_kilowatts = models.DecimalField(max_digits=12, decimal_places=3, null=True)
    pue = models.DecimalField(max_digits=6, decimal_places=4)
    note = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(power_kilowatts__gt=0, pue__gte=1)
                & (Q(cooling_kilowatts__isnull=True) | Q(cooling_kilowatts__gt=0)),
                name="power_limit_is_of_something",
            ),
        ]

    def __str__(self) -> str:
        return self.name
