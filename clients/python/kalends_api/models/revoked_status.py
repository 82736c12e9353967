from enum import StrEnum


class RevokedStatus(StrEnum):
    REVOKED = "revoked"

    def __str__(self) -> str:
        return str(self.value)
