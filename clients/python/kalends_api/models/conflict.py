from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reason_kind import ReasonKind

T = TypeVar("T", bound="Conflict")


@_attrs_define
class Conflict:
    """What blocks the time of a hold.

    Attributes:
        calendar_id (str): The blocked calendar, `cal_…`.
        end (datetime.datetime): The end of what blocks it.
        kind (ReasonKind): A reason why a time is not offered.
        start (datetime.datetime): The start of what blocks it.
    """

    calendar_id: str
    end: datetime.datetime
    kind: ReasonKind
    start: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        calendar_id = self.calendar_id

        end = self.end.isoformat()

        kind = self.kind.value

        start = self.start.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "calendar_id": calendar_id,
                "end": end,
                "kind": kind,
                "start": start,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        calendar_id = d.pop("calendar_id")

        end = datetime.datetime.fromisoformat(d.pop("end"))

        kind = ReasonKind(d.pop("kind"))

        start = datetime.datetime.fromisoformat(d.pop("start"))

        conflict = cls(
            calendar_id=calendar_id,
            end=end,
            kind=kind,
            start=start,
        )

        conflict.additional_properties = d
        return conflict

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
