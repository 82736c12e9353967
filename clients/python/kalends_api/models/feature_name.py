from enum import StrEnum


class FeatureName(StrEnum):
    CROSS_AGENT_AVAILABILITY = "cross_agent_availability"
    HOLDS = "holds"
    SCHEDULING = "scheduling"
    SCOPED_KEYS = "scoped_keys"
    UNBOUNDED_RECURRENCE = "unbounded_recurrence"

    def __str__(self) -> str:
        return str(self.value)
