from enum import StrEnum


class Conflicts(StrEnum):
    ALLOW = "allow"
    REFUSE = "refuse"

    def __str__(self) -> str:
        return str(self.value)
