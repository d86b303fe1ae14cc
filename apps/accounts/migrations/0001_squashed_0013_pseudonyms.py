"""All tables of accounts, as they were when its migrations became one."""

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
        ("accounts", "0001_squashed_0007_true_price"),
        ("accounts", "0008_scopes_by_fact"),
        ("accounts", "0009_team_facts"),
        ("accounts", "0010_scope_of_schedulers"),
        ("accounts", "0011_saved_views"),
        ("accounts", "0012_starting_point"),
        ("accounts", "0013_pseudonyms"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        TablesOfFile(
            file="0001_squashed_0013_pseudonyms.sql",
            models=[
                migrations.CreateModel(
                    name="User",
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
                        ("password", models.CharField(max_length=128, verbose_name="password")),
                        (
                            "last_login",
                            models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                        ),
                        (
                            "is_superuser",
                            models.BooleanField(
                                default=False,
                                help_text="Designates that this user has all permissions without explicitly assigning them.",
                                verbose_name="superuser status",
                            ),
                        ),
                        ("email", models.EmailField(max_length=254, unique=True)),
                        ("name", models.TextField()),
                        (
                            "role",
                            models.TextField(
                                choices=[
                                    ("finance", "Finance"),
                                    ("platform", "Platform"),
                                    ("lead", "Lead"),
                                    ("viewer", "Viewer"),
                                ],
                                default="viewer",
                            ),
                        ),
                        ("is_active", models.BooleanField(default=True)),
                        ("is_staff", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "groups",
                            models.ManyToManyField(
                                blank=True,
                                help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                                related_name="user_set",
                                related_query_name="user",
                                to="auth.group",
                                verbose_name="groups",
                            ),
                        ),
                        (
                            "user_permissions",
                            models.ManyToManyField(
                                blank=True,
                                help_text="Specific permissions for this user.",
                                related_name="user_set",
                                related_query_name="user",
                                to="auth.permission",
                                verbose_name="user permissions",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="AccessToken",
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
                        ("name", models.TextField()),
                        ("digest", models.BinaryField(max_length=32, unique=True)),
                        ("prefix", models.CharField(max_length=12)),
                        (
                            "scopes",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(
                                    choices=[
                                        ("ingest", "Ingest"),
                                        ("jobs", "Jobs"),
                                        ("runs", "Runs"),
                                        ("requests", "Requests"),
                                        ("usage", "Usage"),
                                        ("schedule", "Schedule"),
                                        ("read", "Read"),
                                        ("manage", "Manage"),
                                    ]
                                ),
                                size=None,
                            ),
                        ),
                        ("created_at", models.DateTimeField()),
                        ("expires_at", models.DateTimeField(null=True)),
                        ("revoked_at", models.DateTimeField(null=True)),
                        ("last_used_at", models.DateTimeField(null=True)),
                        (
                            "made_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="tokens",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="tokens",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("expires_at__isnull", True),
                                    ("expires_at__gt", models.F("created_at")),
                                    _connector="OR",
                                ),
                                name="token_expires_after_it_was_made",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Invitation",
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
                        ("digest", models.BinaryField(max_length=32, unique=True)),
                        ("created_at", models.DateTimeField()),
                        ("expires_at", models.DateTimeField()),
                        ("used_at", models.DateTimeField(null=True)),
                        (
                            "invited_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="invitations",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("expires_at__gt", models.F("created_at"))),
                                name="invitation_expires_after_it_was_made",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Membership",
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
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="memberships",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="memberships",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("user", "team"), name="member_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Organisation",
                    fields=[
                        (
                            "id",
                            models.SmallIntegerField(default=1, primary_key=True, serialize=False),
                        ),
                        ("name", models.TextField()),
                        ("currency", models.CharField(max_length=3)),
                        ("zone", models.TextField()),
                        ("week_starts_on", models.SmallIntegerField()),
                        (
                            "price_approval_per_cent",
                            models.PositiveSmallIntegerField(default=20, null=True),
                        ),
                        ("is_demo", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField()),
                        ("chosen_at", models.DateTimeField(null=True)),
                        (
                            "starting_point",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("buys_apis", "buys model APIs first"),
                                    ("rents_clouds", "rents GPUs in clouds"),
                                    ("owns_hardware", "owns hardware on Slurm"),
                                ],
                                default="",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("id", 1)), name="one_organisation"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("week_starts_on__gte", 1), ("week_starts_on__lte", 7)
                                ),
                                name="week_start_is_iso",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("currency__regex", "^[A-Z]{3}$")),
                                name="currency_is_iso",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RepeatedRequest",
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
                        ("caller", models.TextField()),
                        ("key", models.CharField(max_length=200)),
                        ("digest", models.BinaryField(max_length=32)),
                        ("status", models.PositiveSmallIntegerField(default=0)),
                        ("body", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField(db_index=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("caller", "key"), name="request_answered_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Team",
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
                                    ("team", "Team"),
                                    ("platform", "Platform"),
                                    ("unowned", "Unowned"),
                                ],
                                default="team",
                            ),
                        ),
                        ("cost_centre", models.TextField(blank=True, default="")),
                        (
                            "owner",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="owned_teams",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "parent",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="children",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("kind", "team"), _negated=True),
                                fields=("kind",),
                                name="one_platform_one_unowned",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("parent", models.F("id")), _negated=True),
                                name="team_is_not_its_own_parent",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="MembershipEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="accounts.membership",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="AccessTokenEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        ("prefix", models.CharField(max_length=12)),
                        (
                            "scopes",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(
                                    choices=[
                                        ("ingest", "Ingest"),
                                        ("jobs", "Jobs"),
                                        ("runs", "Runs"),
                                        ("requests", "Requests"),
                                        ("usage", "Usage"),
                                        ("schedule", "Schedule"),
                                        ("read", "Read"),
                                        ("manage", "Manage"),
                                    ]
                                ),
                                size=None,
                            ),
                        ),
                        ("created_at", models.DateTimeField()),
                        ("expires_at", models.DateTimeField(null=True)),
                        ("revoked_at", models.DateTimeField(null=True)),
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
                                to="accounts.accesstoken",
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
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="TeamEvent",
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
                                    ("team", "Team"),
                                    ("platform", "Platform"),
                                    ("unowned", "Unowned"),
                                ],
                                default="team",
                            ),
                        ),
                        ("cost_centre", models.TextField(blank=True, default="")),
                        (
                            "owner",
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
                            "parent",
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
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="UserEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        (
                            "is_superuser",
                            models.BooleanField(
                                default=False,
                                help_text="Designates that this user has all permissions without explicitly assigning them.",
                                verbose_name="superuser status",
                            ),
                        ),
                        ("email", models.EmailField(max_length=254)),
                        ("name", models.TextField()),
                        (
                            "role",
                            models.TextField(
                                choices=[
                                    ("finance", "Finance"),
                                    ("platform", "Platform"),
                                    ("lead", "Lead"),
                                    ("viewer", "Viewer"),
                                ],
                                default="viewer",
                            ),
                        ),
                        ("is_active", models.BooleanField(default=True)),
                        ("is_staff", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="SavedView",
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
                        ("name", models.TextField()),
                        ("address", models.TextField()),
                        ("is_for_everybody", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField()),
                        (
                            "owner",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="saved_views",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="saved_views",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("owner", "name"), name="saved_view_named_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("team", None), ("is_for_everybody", False), _connector="OR"
                                ),
                                name="saved_view_is_shared_one_way",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Pseudonym",
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
                        ("digest", models.BinaryField(max_length=32, unique=True)),
                        ("pseudonym", models.TextField(unique=True)),
                        ("made_at", models.DateTimeField()),
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
                ),
            ],
            triggers=[
                pgtrigger.migrations.AddTrigger(
                    model_name="user",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_userevent" ("created_at", "email", "id", "is_active", "is_staff", "is_superuser", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "role") VALUES (NEW."created_at", NEW."email", NEW."id", NEW."is_active", NEW."is_staff", NEW."is_superuser", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."role"); RETURN NULL;',
                            hash="166571b9b563ed1813327de3458c6efc6e1a9d05",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_3867c",
                            table="accounts_user",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="user",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."email" IS DISTINCT FROM (NEW."email") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_active" IS DISTINCT FROM (NEW."is_active") OR OLD."is_staff" IS DISTINCT FROM (NEW."is_staff") OR OLD."is_superuser" IS DISTINCT FROM (NEW."is_superuser") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."role" IS DISTINCT FROM (NEW."role"))',
                            func='INSERT INTO "accounts_userevent" ("created_at", "email", "id", "is_active", "is_staff", "is_superuser", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "role") VALUES (NEW."created_at", NEW."email", NEW."id", NEW."is_active", NEW."is_staff", NEW."is_superuser", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."role"); RETURN NULL;',
                            hash="f655dc0712d76c64995baa9c20fa0f93515008b1",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_0e890",
                            table="accounts_user",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="user",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_userevent" ("created_at", "email", "id", "is_active", "is_staff", "is_superuser", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "role") VALUES (OLD."created_at", OLD."email", OLD."id", OLD."is_active", OLD."is_staff", OLD."is_superuser", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."role"); RETURN NULL;',
                            hash="ec0c543afa7cbb3b41cba902afbd7fe03ed40a8e",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_19f14",
                            table="accounts_user",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="accesstoken",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_accesstokenevent" ("created_at", "expires_at", "id", "made_by_id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "revoked_at", "scopes", "team_id") VALUES (NEW."created_at", NEW."expires_at", NEW."id", NEW."made_by_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."prefix", NEW."revoked_at", NEW."scopes", NEW."team_id"); RETURN NULL;',
                            hash="a892c07c0a528d2f00e472b54c705811125a8448",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_7dd8d",
                            table="accounts_accesstoken",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="accesstoken",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."expires_at" IS DISTINCT FROM (NEW."expires_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."made_by_id" IS DISTINCT FROM (NEW."made_by_id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."prefix" IS DISTINCT FROM (NEW."prefix") OR OLD."revoked_at" IS DISTINCT FROM (NEW."revoked_at") OR OLD."scopes" IS DISTINCT FROM (NEW."scopes") OR OLD."team_id" IS DISTINCT FROM (NEW."team_id"))',
                            func='INSERT INTO "accounts_accesstokenevent" ("created_at", "expires_at", "id", "made_by_id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "revoked_at", "scopes", "team_id") VALUES (NEW."created_at", NEW."expires_at", NEW."id", NEW."made_by_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."prefix", NEW."revoked_at", NEW."scopes", NEW."team_id"); RETURN NULL;',
                            hash="b4aa751f2729cc0c3296f02fe60fb0cefdba215d",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_410a8",
                            table="accounts_accesstoken",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="accesstoken",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_accesstokenevent" ("created_at", "expires_at", "id", "made_by_id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "revoked_at", "scopes", "team_id") VALUES (OLD."created_at", OLD."expires_at", OLD."id", OLD."made_by_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."prefix", OLD."revoked_at", OLD."scopes", OLD."team_id"); RETURN NULL;',
                            hash="134672b733e87bec5d2f563b2b0d1a839ed1ae22",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_4793c",
                            table="accounts_accesstoken",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="membership",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_membershipevent" ("id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "user_id") VALUES (NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."team_id", NEW."user_id"); RETURN NULL;',
                            hash="b09bc85ab8f6c92967605aa30db848a3a46f158b",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_fc05a",
                            table="accounts_membership",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="membership",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "accounts_membershipevent" ("id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "user_id") VALUES (NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."team_id", NEW."user_id"); RETURN NULL;',
                            hash="151dd7b61977819c18aa70032b3c81d047905c7d",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_20ab5",
                            table="accounts_membership",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="membership",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_membershipevent" ("id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "user_id") VALUES (OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."team_id", OLD."user_id"); RETURN NULL;',
                            hash="cf322aa4999742031e3037bfbaa90a90c9891ab9",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_19a8f",
                            table="accounts_membership",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="team",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_teamevent" ("cost_centre", "id", "kind", "name", "owner_id", "parent_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."cost_centre", NEW."id", NEW."kind", NEW."name", NEW."owner_id", NEW."parent_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                            hash="0911637ec0f8c6f3d77fe19f3eeb5914aa6b9501",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_71b40",
                            table="accounts_team",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="team",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "accounts_teamevent" ("cost_centre", "id", "kind", "name", "owner_id", "parent_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."cost_centre", NEW."id", NEW."kind", NEW."name", NEW."owner_id", NEW."parent_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id"); RETURN NULL;',
                            hash="8c6528e313a9f4c63951750c4ebde88f0eac56be",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_529da",
                            table="accounts_team",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="team",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_teamevent" ("cost_centre", "id", "kind", "name", "owner_id", "parent_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."cost_centre", OLD."id", OLD."kind", OLD."name", OLD."owner_id", OLD."parent_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                            hash="93b09adece87d7339f1a5f7212c53ec907831673",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_5bd04",
                            table="accounts_team",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="membershipevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="e1f05704110766345bef638c18be4307af995a77",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_9ee6c",
                            table="accounts_membershipevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="accesstokenevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="a8bf225e3e1aff23ac449d4680f0579168cd37ed",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_79d11",
                            table="accounts_accesstokenevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="teamevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="86fe6d88b31fca89c72d6d66e9cd1db158f91495",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_f422b",
                            table="accounts_teamevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="userevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="9e9498e73f6fbdf2642fb33fa14189f1ad2382c8",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_45b21",
                            table="accounts_userevent",
                            when="BEFORE",
                        ),
                    ),
                ),
            ],
        ),
    ]
