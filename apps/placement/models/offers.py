"""The offer book: what GPU time can be had now, made by a worker every hour."""

from django.db import models
from django.db.models import F, Q


class OfferBook(models.Model):
    """Offers that could be had in an hour. `digest` is of all that it says; `left_out` what was not offered, and why.

    `budgets` is what is left of each budget then, `calibration` how well quotes that ended had said what came. `per_dollar` is what a US dollar is worth in the organisation's currency; null:
    nobody knows. A quote names the book that it was made from.
    """

    hour = models.DateTimeField(unique=True)
    made_at = models.DateTimeField()
    digest = models.CharField(max_length=64)
    left_out = models.JSONField(default=list)
    budgets = models.JSONField(default=list)
    calibration = models.JSONField(default=list)
    per_dollar = models.DecimalField(max_digits=24, decimal_places=12, null=True)

    def __str__(self) -> str:
        return f"offers of {self.hour}"


class BookOffer(models.Model):
    """GPUs of one model, of one provider in one region, bought in one way, at one price.

    `micros` is what a GPU-hour more costs in micro-units of the organisation's currency; null: nobody
    knows. Of what is paid whether it runs or not it is 0 and `paid_micros` what a GPU-hour costs anyway.
    `low_micros` and `high_micros` are how far a spot price moved in the last week. `there_gpus` are all that there are, `free_gpus`
    those that nobody holds or a quota leaves; null where nothing bounds them. `idle_by_node` are those of a pool that nobody holds,
    node by node; `most_held_gpus` is how many were ever rented in that place at once. Waits are hours from entry into the queue to start,
    null where none was measured, of `waits_counted` jobs; `waits_by_priority` has median, ninth and count by their QOS.
    `watts_per_gpu` is rated, `measured_watts` what GPUs of the model drew in runs; `pue` is of the hall, null where nobody said it.
    """

    book = models.ForeignKey(OfferBook, on_delete=models.CASCADE, related_name="offers")
    key = models.TextField()
    name = models.TextField()
    option = models.TextField()
    provider = models.TextField(blank=True, default="")
    region = models.TextField(blank=True, default="")
    instance_type = models.TextField(blank=True, default="")
    gpu_model = models.TextField()
    gpus_per_node = models.PositiveIntegerField()
    gpu_memory_gib = models.FloatField(null=True)
    watts_per_gpu = models.FloatField(null=True)
    measured_watts = models.FloatField(null=True)
    pue = models.FloatField(null=True)
    pool = models.ForeignKey("fleet.Pool", on_delete=models.CASCADE, null=True, related_name="+")
    micros = models.BigIntegerField(null=True)
    paid_micros = models.BigIntegerField(null=True)
    low_micros = models.BigIntegerField(null=True)
    high_micros = models.BigIntegerField(null=True)
    there_gpus = models.PositiveIntegerField(null=True)
    free_gpus = models.PositiveIntegerField(null=True)
    idle_by_node = models.JSONField(default=list)
    most_held_gpus = models.PositiveIntegerField(null=True)
    median_wait_hours = models.FloatField(null=True)
    ninth_wait_hours = models.FloatField(null=True)
    waits_counted = models.PositiveIntegerField(default=0)
    waits_by_priority = models.JSONField(default=dict)
    interruptions = models.JSONField(null=True)
    rates = models.JSONField(default=list)
    notes = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "key"], name="offer_once_in_a_book"),
            models.CheckConstraint(condition=Q(gpus_per_node__gte=1), name="offer_is_of_gpus"),
            models.CheckConstraint(
                condition=Q(low_micros=None) | Q(low_micros__lte=F("high_micros")),
                name="offer_prices_in_order",
            ),
        ]

    def __str__(self) -> str:
        return self.name
