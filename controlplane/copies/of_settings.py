"""The installation that the settings of this process name."""

from django.conf import settings
from django.db import connection

from controlplane.copies.making import Installation
from controlplane.copies.server import Server
from controlplane.settings import ENVIRONMENT, HOME


def this_installation() -> Installation:
    """Return the database, the home, the settings and the key of this process."""
    return Installation(
        Server.of_settings(connection.settings_dict), HOME, ENVIRONMENT, settings.SECRET_KEY
    )
