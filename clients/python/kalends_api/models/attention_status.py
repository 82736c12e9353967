from enum import StrEnum


class AttentionStatus(StrEnum):
    ERROR = "error"
    REAUTHORIZATION_REQUIRED = "reauthorization_required"

    def __str__(self) -> str:
        return str(self.value)
