from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="OfferedCounterSlot")


@_attrs_define
class OfferedCounterSlot:
    """A time that a participant would prefer.

    Attributes:
        end_time (datetime.datetime): The end, exclusive. RFC 3339 with an offset.
        start_time (datetime.datetime): The start. RFC 3339 with an offset.
    """

    end_time: datetime.datetime
    start_time: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        end_time = self.end_time.isoformat()

        start_time = self.start_time.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "end_time": end_time,
                "start_time": start_time,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end_time = datetime.datetime.fromisoformat(d.pop("end_time"))

        start_time = datetime.datetime.fromisoformat(d.pop("start_time"))

        offered_counter_slot = cls(
            end_time=end_time,
            start_time=start_time,
        )

        return offered_counter_slot
