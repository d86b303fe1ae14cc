"""The web doors of all apps, in what they share: who asks, pages, bodies, limits; addresses of accounts."""
