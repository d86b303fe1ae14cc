"""When runs were wrong by their own loss; those that reported one are folded again for it."""

import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
from django.db import migrations

# A fold finds by itself from when on a run comes out otherwise, so nothing older is named as changed.
FOLDED_AGAIN = """
UPDATE workloads_runsummary AS summary
SET told_at = summary.folded_at + interval '1 microsecond', changed_from = summary.folded_at
WHERE summary.folded_at IS NOT NULL AND summary.told_at <= summary.folded_at AND EXISTS (
    SELECT FROM workloads_runattempt AS attempt
    JOIN workloads_runscore AS score ON score.attempt_id = attempt.id
    WHERE attempt.run_id = summary.run_id AND NOT score.higher_is_better
)
"""


class Migration(migrations.Migration):
    dependencies = [("workloads", "0019_values_and_scores")]
    operations = [
        migrations.AddField(
            model_name="runsummary",
            name="diverged",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=django.contrib.postgres.fields.ranges.DateTimeRangeField(),
                db_default=[],
                default=list,
                size=None,
            ),
        ),
        migrations.RunSQL(FOLDED_AGAIN, migrations.RunSQL.noop),
    ]
