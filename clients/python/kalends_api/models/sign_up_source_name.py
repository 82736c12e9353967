from enum import StrEnum


class SignUpSourceName(StrEnum):
    AGENT = "agent"
    CONSOLE = "console"
    OPERATOR = "operator"
    WAITLIST = "waitlist"

    def __str__(self) -> str:
        return str(self.value)
