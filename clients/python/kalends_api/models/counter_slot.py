from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CounterSlot")


@_attrs_define
class CounterSlot:
    """A time that a participant would prefer.

    Attributes:
        end_time (datetime.datetime): The end, exclusive.
        start_time (datetime.datetime): The start.
    """

    end_time: datetime.datetime
    start_time: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        end_time = self.end_time.isoformat()

        start_time = self.start_time.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
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

        counter_slot = cls(
            end_time=end_time,
            start_time=start_time,
        )

        counter_slot.additional_properties = d
        return counter_slot

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
