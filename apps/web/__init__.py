"""What the web doors of all apps share: who asks, pages, bodies, limits; addresses of accounts."""
