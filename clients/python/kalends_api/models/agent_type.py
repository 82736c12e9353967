from enum import StrEnum


class AgentType(StrEnum):
    AI = "ai"
    HUMAN = "human"
    RESOURCE = "resource"

    def __str__(self) -> str:
        return str(self.value)
