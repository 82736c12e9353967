from enum import StrEnum


class Scope(StrEnum):
    DIRECTORYORG = "directory:org"
    FREEBUSYORG = "freebusy:org"
    HOLDSORG = "holds:org"

    def __str__(self) -> str:
        return str(self.value)
