from enum import StrEnum


class AgentStatus(StrEnum):
    ACTIVE = "active"
    DECOMMISSIONED = "decommissioned"
    PAUSED = "paused"

    def __str__(self) -> str:
        return str(self.value)
