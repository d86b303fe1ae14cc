"""Services: what a thousand requests and a million tokens cost, and what nobody asked for."""
