from enum import StrEnum


class DeactivationReason(StrEnum):
    FAILING = "failing"
    GONE = "gone"

    def __str__(self) -> str:
        return str(self.value)
