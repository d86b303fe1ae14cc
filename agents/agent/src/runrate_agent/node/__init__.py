"""The node's other bottlenecks, from /proc and /sys."""
