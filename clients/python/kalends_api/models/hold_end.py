from enum import StrEnum


class HoldEnd(StrEnum):
    EXPIRED = "expired"
    PREEMPTED = "preempted"

    def __str__(self) -> str:
        return str(self.value)
