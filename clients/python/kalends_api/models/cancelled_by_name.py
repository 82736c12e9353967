from enum import StrEnum


class CancelledByName(StrEnum):
    GUEST = "guest"
    HOST = "host"

    def __str__(self) -> str:
        return str(self.value)
