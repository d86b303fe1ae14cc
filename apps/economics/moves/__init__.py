"""What moving work would save: net of what moving costs, weighed against disruption, no dollar counted twice."""
