from enum import StrEnum


class ShownPlan(StrEnum):
    FREE = "free"
    PRO = "pro"
    SCALE = "scale"

    def __str__(self) -> str:
        return str(self.value)
