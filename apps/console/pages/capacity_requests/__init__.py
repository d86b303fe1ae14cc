"""Capacity requests: who asks for GPUs, what their use says, who decided, how long it took."""
