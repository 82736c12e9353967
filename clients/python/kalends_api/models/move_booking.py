from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="MoveBooking")


@_attrs_define
class MoveBooking:
    """The slot to move a booking to.

    Attributes:
        start (datetime.datetime): The start of one of the offered slots. RFC 3339 with an offset.
    """

    start: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        start = self.start.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "start": start,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        start = datetime.datetime.fromisoformat(d.pop("start"))

        move_booking = cls(
            start=start,
        )

        return move_booking
