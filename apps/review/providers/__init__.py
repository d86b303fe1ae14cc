"""Far ends of alerts: mail servers and webhooks."""
