"""Celery's configuration: where messages wait, who takes them, and which sweep runs how often."""

from kombu import Exchange, Queue

from controlplane.broker import SCHEME
from controlplane.folders import own_folder
from controlplane.queues import PEOPLE, SWEEPS, WAITED_FOR
from controlplane.settings import ENVIRONMENT, HOME

BROKER = HOME / "broker"

broker_url = ENVIRONMENT.broker_url or f"{SCHEME}://"
if not ENVIRONMENT.broker_url:
    own_folder(BROKER)
    broker_transport_options = {
        "data_folder_in": str(BROKER),
        "data_folder_out": str(BROKER),
        "store_processed": False,
    }
    # Asking workers by message needs queues for all of them; files have one for one.
    worker_enable_remote_control = False
broker_connection_retry_on_startup = True
task_ignore_result = True
task_acks_late = True
worker_prefetch_multiplier = 1
worker_hijack_root_logger = False
worker_max_tasks_per_child = 500
# A child that has grown beyond it ends after its task, and a new one takes its place.
worker_max_memory_per_child = ENVIRONMENT.worker_memory_mib * 1024
worker_consumer = "controlplane.message_reading:Consumer"

task_default_queue = SWEEPS
task_queues = [Queue(name, Exchange(name), routing_key=name) for name in (SWEEPS, PEOPLE)]
task_routes = {task: {"queue": PEOPLE} for task in WAITED_FOR}
timezone = "UTC"
# Each look at what is due is a sign of life, and there is one every few seconds.
beat_scheduler = "controlplane.clock:ShowingScheduler"
beat_max_loop_interval = 5
beat_schedule_filename = str(HOME / "beat-schedule")

# A sweep that finds nothing costs one query; a message lost with the broker is found by the next.
beat_schedule = {
    "make-backups": {
        "task": "controlplane.tasks.make_backups",
        # Little is due each time: this is how long somebody waits who wants one at once.
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "roll-up-usage": {
        "task": "apps.telemetry.tasks.roll_up_usage",
        "schedule": 20.0,
        "options": {"expires": 20},
    },
    "end-incidents": {
        "task": "apps.telemetry.tasks.end_incidents",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "keep-partitions": {
        "task": "apps.telemetry.tasks.keep_partitions",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "forget-ended-sessions": {
        "task": "apps.accounts.tasks.forget_ended_sessions",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "forget-not-understood": {
        "task": "apps.workloads.tasks.forget_not_understood",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "finish-removals": {
        "task": "apps.accounts.tasks.finish_removals",
        # A removal that goes on is told from one that waits by who holds it: a look costs one query.
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "link-allocations": {
        "task": "apps.workloads.tasks.link_allocations",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "join-requests": {
        "task": "apps.workloads.tasks.join_requests",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "forget-requests": {
        "task": "apps.workloads.tasks.forget_requests",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "fold-runs": {
        "task": "apps.workloads.tasks.fold_runs",
        "schedule": 20.0,
        "options": {"expires": 20},
    },
    "import-uploads": {
        "task": "apps.workloads.tasks.import_uploads",
        "schedule": 4.0,
        "options": {"expires": 4},
    },
    "mark-hours-by-clock": {
        "task": "apps.ledger.tasks.mark_hours_by_clock",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "reconcile-bills": {
        "task": "apps.ledger.tasks.reconcile_bills",
        "schedule": 20.0,
        "options": {"expires": 20},
    },
    "settle": {
        "task": "apps.ledger.tasks.settle_marked_hours",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "divide-days": {
        "task": "apps.unit_economics.tasks.divide_marked_days",
        # Soon after a day is summed: until then pages have its runs and services as they were.
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    "price-calls": {
        "task": "apps.ledger.tasks.price_calls",
        "schedule": 20.0,
        "options": {"expires": 20},
    },
    "take-bills": {
        "task": "apps.ledger.tasks.take_bills",
        "schedule": 4.0,
        "options": {"expires": 4},
    },
    "sync-clouds": {
        "task": "apps.pricing.tasks.sync_clouds",
        # Little is due each time: this is how long somebody waits who wants it at once.
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "sync-cloud-bills": {
        "task": "apps.ledger.tasks.sync_cloud_bills",
        # Little is due each time: this is how long somebody waits who wants it at once.
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "make-exports": {
        "task": "apps.ledger.tasks.make_exports",
        "schedule": 4.0,
        "options": {"expires": 4},
    },
    "make-forecasts": {
        "task": "apps.planning.tasks.make_forecasts",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "import-series-files": {
        "task": "apps.planning.tasks.import_series_files",
        "schedule": 4.0,
        "options": {"expires": 4},
    },
    "answer-portfolios": {
        "task": "apps.planning.tasks.answer_portfolios",
        # This is how long somebody waits who asks.
        "schedule": 4.0,
        "options": {"expires": 4},
    },
    "solve-spot-plans": {
        "task": "apps.placement.tasks.solve_spot_plans",
        # A job that asks again after some minutes has its plan by then.
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "run-scenarios": {
        "task": "apps.planning.tasks.run_scenarios",
        # This is how long somebody waits who wants it at once.
        "schedule": 4.0,
        "options": {"expires": 4},
    },
    "clock-capacity-requests": {
        "task": "apps.planning.tasks.clock_capacity_requests",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "make-offer-book": {
        "task": "apps.placement.tasks.make_offer_book",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "follow-quotes": {
        "task": "apps.placement.tasks.follow_quotes",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "forget-quotes": {
        "task": "apps.placement.tasks.forget_quotes",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "look-for-moves": {
        "task": "apps.placement.tasks.look_for_moves",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "look-for-changes": {
        "task": "apps.review.tasks.look_for_changes",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "look-for-recommendations": {
        "task": "apps.review.tasks.look_for_recommendations",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "measure-savings": {
        "task": "apps.review.tasks.measure_savings",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "raise-alerts": {
        "task": "apps.review.tasks.raise_alerts",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "make-weekly-review": {
        "task": "apps.review.tasks.make_weekly_review",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "send-alerts": {
        "task": "apps.review.tasks.send_alerts",
        # This is how long somebody waits who sends a test.
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "make-review-files": {
        "task": "apps.review.tasks.make_review_files",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
}
