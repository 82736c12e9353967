from enum import StrEnum


class EmailStatus(StrEnum):
    EXPIRED = "expired"
    OUTDATED = "outdated"
    PENDING = "pending"
    REFUSED = "refused"
    SENT = "sent"
    SUPERSEDED = "superseded"

    def __str__(self) -> str:
        return str(self.value)
