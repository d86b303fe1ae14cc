"""The queues of Celery's messages, and whose they are."""

SWEEPS, PEOPLE = "runrate", "people"
"""Of sweeps, which may keep every worker of theirs busy, and of what a person waits for."""
WAITED_FOR = (
    "apps.workloads.tasks.import_uploads",
    "apps.ledger.tasks.take_bills",
    "apps.ledger.tasks.make_exports",
    "apps.planning.tasks.import_series_files",
    "apps.planning.tasks.answer_portfolios",
    "apps.planning.tasks.run_scenarios",
    "apps.review.tasks.make_review_files",
    "apps.review.tasks.send_alerts",
)
"""Tasks of the second."""
