from enum import StrEnum


class AllWrites(StrEnum):
    WRITES = "writes"

    def __str__(self) -> str:
        return str(self.value)
