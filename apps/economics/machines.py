"""Names of machines."""


def is_same_machine(one: str, other: str) -> bool:
    """Whether two names are of one machine; one of them may leave its domain out."""
    shorter, longer = sorted((one, other), key=len)
    return longer == shorter or longer.partition(".")[0] == shorter
