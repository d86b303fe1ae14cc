"""Pricing of usage: what it should cost, by rates and shared costs."""
