from enum import StrEnum


class RequiredPlan(StrEnum):
    PRO = "pro"

    def __str__(self) -> str:
        return str(self.value)
