"""PDFs of frozen reviews, as a worker made them."""

from django.db import models


class ReviewFile(models.Model):
    """A frozen review as a PDF: the whole (`team` None), or what of it is of a team and of all below.

    The whole is made last: where it is, all others of the review are.
    """

    review = models.ForeignKey(
        "review.WeeklyReview", on_delete=models.CASCADE, related_name="files"
    )
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()
    content = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["review", "team"], nulls_distinct=False, name="review_file_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.review_id} of {self.team_id or 'all'}"
