"""The pages of weekly reviews: the list of weeks, one week, one workload in its weeks, what owners state."""
