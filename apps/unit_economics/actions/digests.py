"""Digests of closed months of the tables of runs and services from which a person's name was taken out."""

from apps.ledger.actions.close.digesting import RenewedDigests

renew_service_days = RenewedDigests("ledger_serviceday")
renew_service_counts = RenewedDigests("ledger_servicecount")
