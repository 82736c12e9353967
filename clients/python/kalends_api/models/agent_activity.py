from enum import StrEnum


class AgentActivity(StrEnum):
    ERROR = "error"
    IDLE = "idle"
    WAITING = "waiting"
    WORKING = "working"

    def __str__(self) -> str:
        return str(self.value)
