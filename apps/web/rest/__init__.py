"""Parts that the REST doors of all apps have in common: pages, money, bodies, limits."""
