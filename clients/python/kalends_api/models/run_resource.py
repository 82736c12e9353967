from enum import StrEnum


class RunResource(StrEnum):
    EVENT = "event"
    PROPOSAL = "proposal"

    def __str__(self) -> str:
        return str(self.value)
