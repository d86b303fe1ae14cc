"""Inputs that a portfolio is asked from: what the installation knows of its GPUs, and the runs that are kept."""
