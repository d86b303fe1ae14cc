"""The root of what is refused of somebody's input: which field it is about, and why."""


class Refusal(ValueError):
    """`message` is in words for the person who sent it; `field` is empty where it is about several.

    Its text has both, field first: for commands, logs and answers. Forms ask for the two apart.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message

    @property
    def sentence(self) -> str:
        """The message as a sentence of its own."""
        return f"{self.message[:1].upper()}{self.message[1:]}."

    @property
    def errors(self) -> list[dict[str, str | None]] | None:
        """As a problem document lists it; None where it is about no one field."""
        if not self.field:
            return None
        return [{"field": self.field, "row": None, "message": self.message}]
