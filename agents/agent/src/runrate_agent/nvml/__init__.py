"""What NVML tells: a child process that asks it, and the source in the parent that reads the child."""
