from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="OpenHours")


@_attrs_define
class OpenHours:
    """The opening hours of a weekday or of one date.

    Attributes:
        end (str): The closing time, `HH:MM` from `00:01` to `24:00`. It must be after the start.
        start (str): The opening time, `HH:MM` from `00:00` to `23:59`.
    """

    end: str
    start: str

    def to_dict(self) -> dict[str, Any]:
        end = self.end

        start = self.start

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "end": end,
                "start": start,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end = d.pop("end")

        start = d.pop("start")

        open_hours = cls(
            end=end,
            start=start,
        )

        return open_hours
