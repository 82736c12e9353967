from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="OfferedSlot")


@_attrs_define
class OfferedSlot:
    """A slot to offer.

    Attributes:
        end_time (datetime.datetime): The end, exclusive. RFC 3339 with an offset.
        start_time (datetime.datetime): The start, in the future. RFC 3339 with an offset.
        calendar_id (None | str | Unset): The calendar on which the event is created, `cal_…`, if not the proposal's.
        weight (float | None | Unset): Your preference for the slot, 0 to 10. Defaults to 1.
    """

    end_time: datetime.datetime
    start_time: datetime.datetime
    calendar_id: None | str | Unset = UNSET
    weight: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        end_time = self.end_time.isoformat()

        start_time = self.start_time.isoformat()

        calendar_id: None | str | Unset
        if isinstance(self.calendar_id, Unset):
            calendar_id = UNSET
        else:
            calendar_id = self.calendar_id

        weight: float | None | Unset
        if isinstance(self.weight, Unset):
            weight = UNSET
        else:
            weight = self.weight

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "end_time": end_time,
                "start_time": start_time,
            }
        )
        if calendar_id is not UNSET:
            field_dict["calendar_id"] = calendar_id
        if weight is not UNSET:
            field_dict["weight"] = weight

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end_time = datetime.datetime.fromisoformat(d.pop("end_time"))

        start_time = datetime.datetime.fromisoformat(d.pop("start_time"))

        def _parse_calendar_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        calendar_id = _parse_calendar_id(d.pop("calendar_id", UNSET))

        def _parse_weight(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        weight = _parse_weight(d.pop("weight", UNSET))

        offered_slot = cls(
            end_time=end_time,
            start_time=start_time,
            calendar_id=calendar_id,
            weight=weight,
        )

        return offered_slot
