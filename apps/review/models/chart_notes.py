"""Notes that people make of a day, for whoever looks at a chart over it."""

import pghistory
from django.conf import settings
from django.db import models
from django.db.models import Q


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class ChartNote(models.Model):
    """A day and what it is to be remembered for: of a team, of a workload, or (neither) of the organisation."""

    day = models.DateField()
    text = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    # Null where a machine's token noted it.
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(team=None) | Q(workload=None), name="chart_note_is_of_one_scope"
            )
        ]

    def __str__(self) -> str:
        return self.text
