"""What a job or a run came to is held against one quote: the first that it took keeps it."""

from django.db import migrations, models

FIRST_KEEPS = """
UPDATE placement_jobquote AS later SET taken_by_%(by)s_id = NULL
FROM placement_jobquote AS first
WHERE first.taken_by_%(by)s_id = later.taken_by_%(by)s_id AND first.id < later.id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("placement", "0011_quotes_take_turns"),
    ]

    operations = [
        *(
            migrations.RunSQL(FIRST_KEEPS % {"by": by}, migrations.RunSQL.noop)
            for by in ("job", "run")
        ),
        migrations.AddConstraint(
            model_name="jobquote",
            constraint=models.UniqueConstraint(
                fields=("taken_by_job",), name="quote_once_of_a_job"
            ),
        ),
        migrations.AddConstraint(
            model_name="jobquote",
            constraint=models.UniqueConstraint(
                fields=("taken_by_run",), name="quote_once_of_a_run"
            ),
        ),
    ]
