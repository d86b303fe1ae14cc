"""What REST doors of all apps have in common: pages, money, bodies, limits."""
