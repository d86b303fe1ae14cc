"""Who added or changed an ownership rule, and when: read from its audit trail."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import connection


@dataclass(frozen=True, slots=True)
class RuleChange:
    """One change of a rule; of person, token and command at most one is known.

    `command` says who gave it where that is on record: `add_rule by ada`.
    """

    is_new: bool
    at: datetime
    person_id: int | None
    token_id: int | None
    command: str


def rule_changes(rule_ids: Collection[int]) -> dict[int, list[RuleChange]]:
    """The changes of each rule, the oldest first; a rule older than the trail has none."""
    changes_by_rule: dict[int, list[RuleChange]] = {rule_id: [] for rule_id in rule_ids}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT id, pgh_label = 'insert', pgh_created_at, (pgh_context->>'person')::bigint,
                   (pgh_context->>'token')::bigint, concat_ws(' by ', pgh_context->>'command', pgh_context->>'os_user')
            FROM workloads_ownershipruleevent WHERE id = ANY(%s) ORDER BY pgh_id
            """,
            [list(rule_ids)],
        )
        for rule_id, *change in cursor:
            changes_by_rule[rule_id].append(RuleChange(*change))
    return changes_by_rule
