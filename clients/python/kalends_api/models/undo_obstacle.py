from enum import StrEnum


class UndoObstacle(StrEnum):
    CALENDAR_DELETED = "calendar_deleted"
    CHANGED = "changed"
    TIME_TAKEN = "time_taken"

    def __str__(self) -> str:
        return str(self.value)
