"""An override says which job used it, and when."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("placement", "0009_pools_of_quotes"),
    ]

    operations = [
        ChangedTogether(
            pgtrigger.migrations.RemoveTrigger(
                model_name="jobadmission",
                name="update_update",
            ),
            migrations.AddField(
                model_name="jobadmission",
                name="used_at",
                field=models.DateTimeField(null=True),
            ),
            migrations.AddField(
                model_name="jobadmission",
                name="used_by",
                field=models.TextField(blank=True, default=""),
            ),
            migrations.AddField(
                model_name="jobadmissionevent",
                name="used_at",
                field=models.DateTimeField(null=True),
            ),
            migrations.AddField(
                model_name="jobadmissionevent",
                name="used_by",
                field=models.TextField(blank=True, default=""),
            ),
            migrations.AddIndex(
                model_name="jobadmission",
                index=models.Index(
                    condition=models.Q(("overridden_at__isnull", False)),
                    fields=["-overridden_at", "-id"],
                    name="admission_overridden",
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="jobadmission",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "placement_jobadmissionevent" ("answer", "asked_at", "asked_by_id", "asked_name", "digest", "id", "job", "overridden_at", "overridden_by_id", "overridden_name", "override_reason", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "used_at", "used_by", "verdict") VALUES (NEW."answer", NEW."asked_at", NEW."asked_by_id", NEW."asked_name", NEW."digest", NEW."id", NEW."job", NEW."overridden_at", NEW."overridden_by_id", NEW."overridden_name", NEW."override_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."team_id", NEW."used_at", NEW."used_by", NEW."verdict"); RETURN NULL;',
                        hash="df3a09bee330094fcd92834fed8058ef1588b681",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_907c2",
                        table="placement_jobadmission",
                        when="AFTER",
                    ),
                ),
            ),
            migrations.AddConstraint(
                model_name="jobadmission",
                constraint=models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("used_at", None), ("used_by", "")),
                        models.Q(
                            ("overridden_at__isnull", False),
                            ("used_at__isnull", False),
                            models.Q(("used_by", ""), _negated=True),
                        ),
                        _connector="OR",
                    ),
                    name="admission_used_where_overridden",
                ),
            ),
        )
    ]
