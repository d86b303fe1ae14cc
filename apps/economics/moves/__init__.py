"""Savings of moving work: net of what moving costs, weighed against disruption, no dollar counted twice."""
