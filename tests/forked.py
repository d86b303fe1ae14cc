"""Processes beside the tests', on their database: a signal ends one as it would end a worker."""

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess

from django.db import connection


def forked(work: Callable[[], object], application_name: str = "forked") -> BaseProcess:
    """A process that does this over a connection of its own; it begins with all that is imported here.

    Only for tests that commit: it sees nothing of an open transaction.
    """

    def alone() -> None:
        # Not closed: the server would end the session that the tests go on with.
        of_tests, connection.connection = connection.connection, None
        options = {**connection.settings_dict["OPTIONS"], "application_name": application_name}
        connection.settings_dict["OPTIONS"] = options
        work()
        del of_tests

    process = get_context("fork").Process(target=alone)
    process.start()
    return process
