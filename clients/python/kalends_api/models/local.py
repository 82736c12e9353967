from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.weekday import Weekday

T = TypeVar("T", bound="Local")


@_attrs_define
class Local:
    """The time of an event on the wall clock of its calendar's zone.

    Attributes:
        end (datetime.datetime): The end, exclusive, with the UTC offset in force at that time.
        start (datetime.datetime): The start, with the UTC offset in force at that time.
        timezone (str): The calendar's zone.
        weekday (Weekday): A day of the week.
    """

    end: datetime.datetime
    start: datetime.datetime
    timezone: str
    weekday: Weekday
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        end = self.end.isoformat()

        start = self.start.isoformat()

        timezone = self.timezone

        weekday = self.weekday.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "end": end,
                "start": start,
                "timezone": timezone,
                "weekday": weekday,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end = datetime.datetime.fromisoformat(d.pop("end"))

        start = datetime.datetime.fromisoformat(d.pop("start"))

        timezone = d.pop("timezone")

        weekday = Weekday(d.pop("weekday"))

        local = cls(
            end=end,
            start=start,
            timezone=timezone,
            weekday=weekday,
        )

        local.additional_properties = d
        return local

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
