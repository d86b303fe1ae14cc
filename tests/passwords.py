"""Argon2 as the product hashes with, at the least cost it has: tests make many people."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class QuickArgon2(Argon2PasswordHasher):
    """Not for keeping anything: guessed a thousand times faster."""

    time_cost = 1
    memory_cost = 8
    parallelism = 1
