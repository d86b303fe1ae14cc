"""Review over REST: anomalies and improvements, alerts, and where alerts are sent."""
