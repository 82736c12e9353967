from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reason_kind import ReasonKind
from ..types import UNSET, Unset

T = TypeVar("T", bound="Reason")


@_attrs_define
class Reason:
    """One reason. It reveals neither titles nor which human calendar is busy.

    Attributes:
        end (datetime.datetime): The end, exclusive.
        reason (ReasonKind): A reason why a time is not offered.
        start (datetime.datetime): The start. For an event or a hold, its own start. Otherwise, the start of the part
            within the queried time. For
            the busy time of a human calendar, the queried time includes the calendar's buffers.
        calendar_id (None | str | Unset): The calendar whose events or rules are the reason. Null if the time is outside
            the range, and if a human
            calendar is busy for an agent without calendars.
    """

    end: datetime.datetime
    reason: ReasonKind
    start: datetime.datetime
    calendar_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        end = self.end.isoformat()

        reason = self.reason.value

        start = self.start.isoformat()

        calendar_id: None | str | Unset
        if isinstance(self.calendar_id, Unset):
            calendar_id = UNSET
        else:
            calendar_id = self.calendar_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "end": end,
                "reason": reason,
                "start": start,
            }
        )
        if calendar_id is not UNSET:
            field_dict["calendar_id"] = calendar_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end = datetime.datetime.fromisoformat(d.pop("end"))

        reason = ReasonKind(d.pop("reason"))

        start = datetime.datetime.fromisoformat(d.pop("start"))

        def _parse_calendar_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        calendar_id = _parse_calendar_id(d.pop("calendar_id", UNSET))

        reason = cls(
            end=end,
            reason=reason,
            start=start,
            calendar_id=calendar_id,
        )

        reason.additional_properties = d
        return reason

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
