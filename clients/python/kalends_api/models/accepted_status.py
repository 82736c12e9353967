from enum import StrEnum


class AcceptedStatus(StrEnum):
    ACCEPTED = "accepted"

    def __str__(self) -> str:
        return str(self.value)
