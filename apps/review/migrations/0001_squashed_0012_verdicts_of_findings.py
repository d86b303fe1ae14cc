"""All tables of review, as they were when its migrations became one."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [
        ("review", "0001_squashed_0002_looks"),
        ("review", "0003_alerts"),
        ("review", "0004_weekly_reviews"),
        ("review", "0005_recommendations"),
        ("review", "0006_alerts_that_fall_back"),
        ("review", "0007_weekly_reviews_go_out"),
        ("review", "0008_claimed_messages"),
        ("review", "0009_savings_measured"),
        ("review", "0010_spend_anomalies"),
        ("review", "0011_chart_notes"),
        ("review", "0012_verdicts_of_findings"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0013_pseudonyms"),
        ("fleet", "0001_squashed_0016_join_tokens_in_the_trail"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
        ("workloads", "0001_squashed_0020_runs_wrong_by_their_loss"),
    ]

    operations = [
        TablesOfFile(
            file="0001_squashed_0012_verdicts_of_findings.sql",
            models=[
                migrations.CreateModel(
                    name="Look",
                    fields=[
                        ("day", models.DateField(primary_key=True, serialize=False)),
                        ("looked_at", models.DateTimeField()),
                        ("series", models.IntegerField()),
                    ],
                ),
                migrations.CreateModel(
                    name="Finding",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("kind", models.TextField(choices=[("step", "step"), ("spike", "spike")])),
                        (
                            "measure",
                            models.TextField(
                                choices=[
                                    ("cost_per_1000_requests", "cost per 1,000 requests"),
                                    ("tokens_per_request", "tokens per request"),
                                    ("mfu", "MFU"),
                                    ("data_wait", "data wait"),
                                ]
                            ),
                        ),
                        ("feature", models.TextField(blank=True, default="")),
                        ("changed_on", models.DateField()),
                        ("first_seen_on", models.DateField()),
                        ("last_seen_on", models.DateField()),
                        ("seen", models.IntegerField(default=1)),
                        ("before", models.FloatField()),
                        ("after", models.FloatField()),
                        ("effect_ratio", models.FloatField()),
                        ("impact_micros", models.BigIntegerField(null=True)),
                        ("parts", models.JSONField(default=list)),
                        ("causes", models.JSONField(default=list)),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                        ("strictness", models.FloatField(db_default=1.0, default=1.0)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["-changed_on"], name="finding_by_day"),
                            models.Index(
                                fields=["workload", "-changed_on"], name="finding_by_workload"
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("kind", "measure", "workload", "feature", "changed_on"),
                                name="finding_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("last_seen_on__gte", models.F("first_seen_on"))
                                ),
                                name="finding_is_seen_forward",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AlertsRead",
                    fields=[
                        (
                            "user",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                serialize=False,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("read_at", models.DateTimeField()),
                    ],
                ),
                migrations.CreateModel(
                    name="Alert",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("matter", models.TextField(unique=True)),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("budget_threshold", "budget used"),
                                    ("budget_forecast", "budget forecast"),
                                    ("anomaly", "anomaly"),
                                ]
                            ),
                        ),
                        (
                            "severity",
                            models.TextField(
                                choices=[
                                    ("notice", "notice"),
                                    ("warning", "warning"),
                                    ("urgent", "urgent"),
                                ]
                            ),
                        ),
                        ("level", models.IntegerField(default=0)),
                        ("title", models.TextField()),
                        ("facts", models.JSONField(default=list)),
                        ("link", models.TextField()),
                        ("opened_at", models.DateTimeField()),
                        ("told_at", models.DateTimeField()),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("open", "open"),
                                    ("acknowledged", "acknowledged"),
                                    ("muted", "muted"),
                                    ("resolved", "resolved"),
                                ],
                                default="open",
                            ),
                        ),
                        ("state_at", models.DateTimeField()),
                        ("state_name", models.TextField(blank=True, default="")),
                        ("state_reason", models.TextField(blank=True, default="")),
                        ("muted_until", models.DateTimeField(null=True)),
                        (
                            "state_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["-told_at", "-id"], name="alert_newest_first"),
                            models.Index(fields=["state", "-told_at"], name="alert_by_state"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("muted_until", None), ("state", "muted"), _connector="OR"
                                ),
                                name="alert_muted_until_a_moment",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AlertChannel",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.TextField(unique=True)),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("mail", "mail"),
                                    ("slack", "Slack-compatible webhook"),
                                    ("webhook", "signed webhook"),
                                ]
                            ),
                        ),
                        ("address", models.TextField()),
                        ("shown_address", models.TextField()),
                        ("key_salt", models.TextField(blank=True, default="")),
                        (
                            "pace",
                            models.TextField(
                                choices=[("at_once", "at once"), ("daily", "once a day")],
                                default="at_once",
                            ),
                        ),
                        ("quiet_from", models.PositiveSmallIntegerField(null=True)),
                        ("quiet_to", models.PositiveSmallIntegerField(null=True)),
                        ("failures", models.IntegerField(default=0)),
                        ("last_sent_at", models.DateTimeField(null=True)),
                        ("paused_at", models.DateTimeField(null=True)),
                        ("paused_reason", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        ("gets_reviews", models.BooleanField(default=False)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("quiet_from", None), ("quiet_to", None)),
                                    models.Q(
                                        ("quiet_from__lte", 23),
                                        ("quiet_to__lte", 23),
                                        models.Q(
                                            ("quiet_from", models.F("quiet_to")), _negated=True
                                        ),
                                    ),
                                    _connector="OR",
                                ),
                                name="channel_quiet_from_and_to",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AlertChannelEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("mail", "mail"),
                                    ("slack", "Slack-compatible webhook"),
                                    ("webhook", "signed webhook"),
                                ]
                            ),
                        ),
                        ("shown_address", models.TextField()),
                        (
                            "pace",
                            models.TextField(
                                choices=[("at_once", "at once"), ("daily", "once a day")],
                                default="at_once",
                            ),
                        ),
                        ("quiet_from", models.PositiveSmallIntegerField(null=True)),
                        ("quiet_to", models.PositiveSmallIntegerField(null=True)),
                        ("paused_at", models.DateTimeField(null=True)),
                        ("paused_reason", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="review.alertchannel",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="accounts.team",
                            ),
                        ),
                        ("gets_reviews", models.BooleanField(default=False)),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="AlertEntry",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("at", models.DateTimeField()),
                        (
                            "step",
                            models.TextField(
                                choices=[
                                    ("opened", "opened"),
                                    ("raised", "went further"),
                                    ("lowered", "fell back"),
                                    ("reopened", "open again"),
                                    ("acknowledged", "acknowledged"),
                                    ("muted", "muted"),
                                    ("unmuted", "no longer muted"),
                                    ("resolved", "resolved"),
                                ]
                            ),
                        ),
                        (
                            "severity",
                            models.TextField(
                                choices=[
                                    ("notice", "notice"),
                                    ("warning", "warning"),
                                    ("urgent", "urgent"),
                                ]
                            ),
                        ),
                        ("title", models.TextField()),
                        ("facts", models.JSONField(default=list)),
                        ("who", models.TextField(blank=True, default="")),
                        ("reason", models.TextField(blank=True, default="")),
                        ("routed_at", models.DateTimeField(null=True)),
                        (
                            "alert",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="entries",
                                to="review.alert",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["alert", "at", "id"], name="alert_entry_in_order"),
                            models.Index(
                                condition=models.Q(("routed_at", None)),
                                fields=["id"],
                                name="alert_entry_to_be_routed",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AlertMessage",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "entry_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        ("is_test", models.BooleanField(default=False)),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("waiting", "waiting"),
                                    ("sent", "sent"),
                                    ("dropped", "dropped"),
                                ],
                                default="waiting",
                            ),
                        ),
                        ("made_at", models.DateTimeField()),
                        ("due_at", models.DateTimeField()),
                        ("attempts", models.IntegerField(default=0)),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "channel",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="review.alertchannel",
                            ),
                        ),
                        (
                            "review",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="review.weeklyreview",
                            ),
                        ),
                        ("claimed_until", models.DateTimeField(null=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["-made_at", "-id"], name="message_newest_first"),
                            models.Index(
                                condition=models.Q(("state", "waiting")),
                                fields=["due_at"],
                                name="message_that_waits",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("ended_at", None), ("state", "waiting")),
                                    models.Q(
                                        models.Q(("state", "waiting"), _negated=True),
                                        ("ended_at__isnull", False),
                                    ),
                                    _connector="OR",
                                ),
                                name="message_waits_or_ended",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("review__isnull", False)),
                                fields=("channel", "review"),
                                name="review_sent_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BudgetForecastLook",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("budget_id", models.BigIntegerField()),
                        ("first_day", models.DateField()),
                        ("day", models.DateField()),
                        ("looked_at", models.DateTimeField()),
                        ("chance", models.FloatField(null=True)),
                        ("expected_share", models.FloatField(null=True)),
                        ("share_gone", models.FloatField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("budget_id", "first_day", "day"),
                                name="budget_looked_at_once_a_day",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="MessageAttempt",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("at", models.DateTimeField()),
                        ("milliseconds", models.IntegerField()),
                        ("is_sent", models.BooleanField()),
                        ("outcome", models.TextField()),
                        (
                            "message",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="tries",
                                to="review.alertmessage",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["message", "id"], name="attempt_of_message")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="WeeklyReview",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("week", models.TextField()),
                        ("first_day", models.DateField()),
                        ("edition", models.SmallIntegerField(default=1)),
                        ("schema", models.SmallIntegerField()),
                        ("made_at", models.DateTimeField()),
                        ("reason", models.TextField(blank=True, default="")),
                        ("content", models.JSONField()),
                        ("digest", models.TextField()),
                        (
                            "made_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["-first_day", "-edition"], name="weekly_review_by_week"
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("week", "edition"), name="weekly_review_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("edition__gte", 1)),
                                name="weekly_review_counts_up",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="WeeklyReviewWorkload",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("place", models.IntegerField()),
                        ("verdict", models.TextField()),
                        ("content", models.JSONField()),
                        (
                            "review",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="workloads",
                                to="review.weeklyreview",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("review", "workload"), name="reviewed_workload_once"
                            ),
                            models.UniqueConstraint(
                                fields=("review", "place"), name="reviewed_workload_in_place"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ReviewNote",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("week", models.TextField()),
                        (
                            "decision",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("keep", "keep as it is"),
                                    ("shrink", "shrink"),
                                    ("retire", "retire"),
                                    ("look_into", "look into"),
                                ],
                                default="",
                            ),
                        ),
                        ("text", models.TextField(blank=True, default="")),
                        ("author_name", models.TextField()),
                        ("at", models.DateTimeField()),
                        (
                            "author",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["week", "workload", "id"], name="review_note_by_week"
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("decision", ""), ("workload__isnull", False), _connector="OR"
                                ),
                                name="decision_is_of_a_workload",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("decision", ""), _negated=True),
                                    models.Q(("text", ""), _negated=True),
                                    _connector="OR",
                                ),
                                name="review_note_says_something",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RecommendationLook",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("week", models.DateField(unique=True)),
                        ("made_at", models.DateTimeField()),
                        ("counted_micros", models.BigIntegerField()),
                        ("kinds", models.JSONField()),
                    ],
                ),
                migrations.CreateModel(
                    name="Recommendation",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("matter", models.TextField(unique=True)),
                        ("kind", models.TextField()),
                        ("proposal", models.JSONField()),
                        ("exclusive_group", models.PositiveIntegerField()),
                        ("is_counted", models.BooleanField()),
                        ("first_week", models.DateField()),
                        ("last_week", models.DateField()),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("open", "open"),
                                    ("claimed", "claimed"),
                                    ("done", "done"),
                                    ("verified", "verified"),
                                    ("failed", "failed"),
                                    ("dismissed", "dismissed"),
                                    ("snoozed", "snoozed"),
                                    ("closed", "no longer proposed"),
                                ],
                                default="open",
                            ),
                        ),
                        ("state_at", models.DateTimeField()),
                        ("state_name", models.TextField(blank=True, default="")),
                        ("state_reason", models.TextField(blank=True, default="")),
                        ("due_on", models.DateField(null=True)),
                        ("claimed_at", models.DateTimeField(null=True)),
                        ("snoozed_until", models.DateTimeField(null=True)),
                        ("done_at", models.DateTimeField(null=True)),
                        (
                            "owner",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "state_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["state", "team"], name="recommendation_by_state")
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("last_week__gte", models.F("first_week"))),
                                name="recommended_forward",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("snoozed_until__isnull", False), ("state", "snoozed")
                                    ),
                                    models.Q(
                                        models.Q(("state", "snoozed"), _negated=True),
                                        ("snoozed_until", None),
                                    ),
                                    _connector="OR",
                                ),
                                name="recommendation_snoozed_until",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("state__in", ("claimed", "done", "verified", "failed")),
                                        _negated=True,
                                    ),
                                    models.Q(
                                        ("claimed_at__isnull", False), ("owner__isnull", False)
                                    ),
                                    _connector="OR",
                                ),
                                name="recommendation_claimed_by_an_owner",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("state__in", ("done", "verified", "failed")), _negated=True
                                    ),
                                    ("done_at__isnull", False),
                                    _connector="OR",
                                ),
                                name="recommendation_done_at",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("state__in", ("dismissed", "closed")), _negated=True),
                                    models.Q(("state_reason", ""), _negated=True),
                                    _connector="OR",
                                ),
                                name="recommendation_ended_with_reason",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RecommendationOutcome",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("claimed_at", models.DateTimeField()),
                        ("done_at", models.DateTimeField()),
                        ("settled_at", models.DateTimeField()),
                        ("is_verified", models.BooleanField()),
                        ("promise", models.JSONField()),
                        ("measured", models.JSONField()),
                        (
                            "recommendation",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="outcomes",
                                to="review.recommendation",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("recommendation", "done_at"),
                                name="recommendation_settled_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RecommendationStep",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("at", models.DateTimeField()),
                        (
                            "verb",
                            models.TextField(
                                choices=[
                                    ("proposed", "proposed"),
                                    ("proposed_again", "proposed again"),
                                    ("claimed", "claimed"),
                                    ("done", "done"),
                                    ("verified", "verified"),
                                    ("failed", "failed"),
                                    ("dismissed", "dismissed"),
                                    ("snoozed", "snoozed"),
                                    ("woken", "no longer snoozed"),
                                    ("reopened", "reopened"),
                                    ("closed", "no longer proposed"),
                                ]
                            ),
                        ),
                        ("who", models.TextField(blank=True, default="")),
                        ("why", models.TextField(blank=True, default="")),
                        (
                            "recommendation",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="steps",
                                to="review.recommendation",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["recommendation", "at", "id"],
                                name="recommendation_step_in_order",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ReviewFile",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("made_at", models.DateTimeField()),
                        ("content", models.BinaryField()),
                        (
                            "review",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="files",
                                to="review.weeklyreview",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("review", "team"),
                                name="review_file_once",
                                nulls_distinct=False,
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="SavingMeasurement",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("done_at", models.DateTimeField()),
                        ("week", models.DateField()),
                        ("measured_at", models.DateTimeField()),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("too_early", "too_early"),
                                    ("verified", "verified"),
                                    ("failed", "failed"),
                                    ("unknown", "unknown"),
                                ]
                            ),
                        ),
                        ("why", models.TextField(blank=True, default="")),
                        ("promise", models.JSONField()),
                        ("measured", models.JSONField(null=True)),
                        ("digest", models.TextField()),
                        (
                            "recommendation",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="measurements",
                                to="review.recommendation",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("recommendation", "done_at", "week"),
                                name="saving_measured_once_a_week",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("status__in", ("verified", "failed")), _negated=True),
                                    ("measured__isnull", False),
                                    _connector="OR",
                                ),
                                name="saving_judged_by_a_measure",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="SpendAnomaly",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "subject",
                            models.TextField(
                                choices=[
                                    ("organisation", "organisation"),
                                    ("team", "team"),
                                    ("pool", "pool"),
                                    ("charge", "charge"),
                                    ("workload", "workload"),
                                ]
                            ),
                        ),
                        ("key", models.TextField(blank=True, default="")),
                        ("name", models.TextField()),
                        ("began_on", models.DateField()),
                        ("first_seen_on", models.DateField()),
                        ("last_seen_on", models.DateField()),
                        ("ended_on", models.DateField(null=True)),
                        ("days", models.IntegerField()),
                        ("expected_micros", models.BigIntegerField()),
                        ("spent_micros", models.BigIntegerField()),
                        ("parts", models.JSONField(default=list)),
                        ("drivers", models.JSONField(default=list)),
                        ("causes", models.JSONField(default=list)),
                        ("seen_in", models.JSONField(default=list)),
                        ("strictness", models.FloatField(default=1.0)),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["-began_on", "id"], name="spend_anomaly_by_day"),
                            models.Index(
                                fields=["-last_seen_on"], name="spend_anomaly_by_last_seen"
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("subject", "key", "began_on"), name="spend_anomaly_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("spent_micros__gt", models.F("expected_micros"))
                                ),
                                name="spend_anomaly_is_more",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AnomalyVerdict",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "verdict",
                            models.TextField(
                                choices=[
                                    ("explained", "explained"),
                                    ("false_alarm", "false alarm"),
                                    ("muted", "muted"),
                                ]
                            ),
                        ),
                        ("series", models.TextField()),
                        ("at", models.DateTimeField()),
                        ("until", models.DateTimeField(null=True)),
                        ("reason", models.TextField(blank=True, default="")),
                        ("who", models.TextField()),
                        ("taken_back_at", models.DateTimeField(null=True)),
                        ("taken_back_who", models.TextField(blank=True, default="")),
                        ("taken_back_reason", models.TextField(blank=True, default="")),
                        (
                            "by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "spend",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="verdicts",
                                to="review.spendanomaly",
                            ),
                        ),
                        (
                            "finding",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="verdicts",
                                to="review.finding",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["series", "at"], name="anomaly_verdict_by_series")
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("spend", None), ("finding", None), _connector="OR"
                                ),
                                name="anomaly_verdict_of_one",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ChartNote",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("day", models.DateField()),
                        ("text", models.TextField()),
                        ("created_at", models.DateTimeField()),
                        (
                            "made_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("team", None), ("workload", None), _connector="OR"
                                ),
                                name="chart_note_is_of_one_scope",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ChartNoteEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("day", models.DateField()),
                        ("text", models.TextField()),
                        ("created_at", models.DateTimeField()),
                        (
                            "made_by",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="review.chartnote",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
            ],
            triggers=[
                pgtrigger.migrations.AddTrigger(
                    model_name="alertchannel",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "review_alertchannelevent" ("created_at", "ended_at", "gets_reviews", "id", "kind", "name", "pace", "paused_at", "paused_reason", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "quiet_from", "quiet_to", "shown_address", "team_id") VALUES (NEW."created_at", NEW."ended_at", NEW."gets_reviews", NEW."id", NEW."kind", NEW."name", NEW."pace", NEW."paused_at", NEW."paused_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."quiet_from", NEW."quiet_to", NEW."shown_address", NEW."team_id"); RETURN NULL;',
                            hash="575da0a63eb50dfb716d276aa9b2fe2697127736",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_83f67",
                            table="review_alertchannel",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="alertchannel",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."ended_at" IS DISTINCT FROM (NEW."ended_at") OR OLD."gets_reviews" IS DISTINCT FROM (NEW."gets_reviews") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."pace" IS DISTINCT FROM (NEW."pace") OR OLD."paused_at" IS DISTINCT FROM (NEW."paused_at") OR OLD."paused_reason" IS DISTINCT FROM (NEW."paused_reason") OR OLD."quiet_from" IS DISTINCT FROM (NEW."quiet_from") OR OLD."quiet_to" IS DISTINCT FROM (NEW."quiet_to") OR OLD."shown_address" IS DISTINCT FROM (NEW."shown_address") OR OLD."team_id" IS DISTINCT FROM (NEW."team_id"))',
                            func='INSERT INTO "review_alertchannelevent" ("created_at", "ended_at", "gets_reviews", "id", "kind", "name", "pace", "paused_at", "paused_reason", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "quiet_from", "quiet_to", "shown_address", "team_id") VALUES (NEW."created_at", NEW."ended_at", NEW."gets_reviews", NEW."id", NEW."kind", NEW."name", NEW."pace", NEW."paused_at", NEW."paused_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."quiet_from", NEW."quiet_to", NEW."shown_address", NEW."team_id"); RETURN NULL;',
                            hash="00a21f414efde8774e66a24c96b96e80aecfede5",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_3394d",
                            table="review_alertchannel",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="alertchannel",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "review_alertchannelevent" ("created_at", "ended_at", "gets_reviews", "id", "kind", "name", "pace", "paused_at", "paused_reason", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "quiet_from", "quiet_to", "shown_address", "team_id") VALUES (OLD."created_at", OLD."ended_at", OLD."gets_reviews", OLD."id", OLD."kind", OLD."name", OLD."pace", OLD."paused_at", OLD."paused_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."quiet_from", OLD."quiet_to", OLD."shown_address", OLD."team_id"); RETURN NULL;',
                            hash="6e5657bc6d3c981a05713edb352cc334bdb8b6ac",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_001b4",
                            table="review_alertchannel",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="alertchannelevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="7315da76bf3ac97d89513adc48786a81e2d1cbba",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_d8f54",
                            table="review_alertchannelevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="weeklyreview",
                    trigger=pgtrigger.compiler.Trigger(
                        name="weekly_review_is_frozen",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="db476c1f01c1251e0ea3f31798da97965b7a0646",
                            operation="UPDATE",
                            pgid="pgtrigger_weekly_review_is_frozen_aa896",
                            table="review_weeklyreview",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="weeklyreviewworkload",
                    trigger=pgtrigger.compiler.Trigger(
                        name="reviewed_workload_is_frozen",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="61fc84d2d56eacae529763eae7e4bf76f1b59e24",
                            operation="UPDATE",
                            pgid="pgtrigger_reviewed_workload_is_frozen_a542b",
                            table="review_weeklyreviewworkload",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="savingmeasurement",
                    trigger=pgtrigger.compiler.Trigger(
                        name="saving_measurement_is_frozen",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="f823b975df7b7dfa1c8f6fa98e5efc06115b9f63",
                            operation="UPDATE",
                            pgid="pgtrigger_saving_measurement_is_frozen_804af",
                            table="review_savingmeasurement",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="chartnote",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "review_chartnoteevent" ("created_at", "day", "id", "made_by_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "text", "workload_id") VALUES (NEW."created_at", NEW."day", NEW."id", NEW."made_by_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."team_id", NEW."text", NEW."workload_id"); RETURN NULL;',
                            hash="7ea525317a5ba4d18e1f450d5fd8e1dce8167ecc",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_b4b75",
                            table="review_chartnote",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="chartnote",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "review_chartnoteevent" ("created_at", "day", "id", "made_by_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "text", "workload_id") VALUES (NEW."created_at", NEW."day", NEW."id", NEW."made_by_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."team_id", NEW."text", NEW."workload_id"); RETURN NULL;',
                            hash="0df0e1768b4bfcbd4159983fa61b1e06894ea643",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_b2e88",
                            table="review_chartnote",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="chartnote",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "review_chartnoteevent" ("created_at", "day", "id", "made_by_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "text", "workload_id") VALUES (OLD."created_at", OLD."day", OLD."id", OLD."made_by_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."team_id", OLD."text", OLD."workload_id"); RETURN NULL;',
                            hash="53245f87176b9742eb29578b63b7178d5684a52f",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_083ed",
                            table="review_chartnote",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="chartnoteevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="b2c34c53c843b676525c63d51c6186cd749f9cba",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_0ead1",
                            table="review_chartnoteevent",
                            when="BEFORE",
                        ),
                    ),
                ),
            ],
        ),
    ]
