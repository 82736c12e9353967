from enum import StrEnum


class PlacementName(StrEnum):
    ALL = "all"
    ORGANIZER = "organizer"

    def __str__(self) -> str:
        return str(self.value)
