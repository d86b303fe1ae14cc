"""Pages of what-if plans: planned work on top of a forecast, priced, with the queue it causes."""
