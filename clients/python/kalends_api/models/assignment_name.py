from enum import StrEnum


class AssignmentName(StrEnum):
    COLLECTIVE = "collective"
    ROUND_ROBIN = "round_robin"

    def __str__(self) -> str:
        return str(self.value)
