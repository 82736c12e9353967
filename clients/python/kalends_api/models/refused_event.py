from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.conflict import Conflict


T = TypeVar("T", bound="RefusedEvent")


@_attrs_define
class RefusedEvent:
    """An event of a file whose time is taken.

    Attributes:
        conflicts (list[Conflict]): What blocks the time, sorted by start: at most 20.
        start_time (datetime.datetime): The start of what meets something else: the event, the first occurrence of the
            series, or one of its changed
            occurrences.
        uid (str): The event's `UID`.
    """

    conflicts: list[Conflict]
    start_time: datetime.datetime
    uid: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        conflicts = []
        for conflicts_item_data in self.conflicts:
            conflicts_item = conflicts_item_data.to_dict()
            conflicts.append(conflicts_item)

        start_time = self.start_time.isoformat()

        uid = self.uid

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "conflicts": conflicts,
                "start_time": start_time,
                "uid": uid,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.conflict import Conflict

        d = dict(src_dict)
        conflicts = []
        _conflicts = d.pop("conflicts")
        for conflicts_item_data in _conflicts:
            conflicts_item = Conflict.from_dict(conflicts_item_data)

            conflicts.append(conflicts_item)

        start_time = datetime.datetime.fromisoformat(d.pop("start_time"))

        uid = d.pop("uid")

        refused_event = cls(
            conflicts=conflicts,
            start_time=start_time,
            uid=uid,
        )

        refused_event.additional_properties = d
        return refused_event

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
