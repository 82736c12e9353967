from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ProposalSlot")


@_attrs_define
class ProposalSlot:
    """A slot of a proposal.

    Attributes:
        end_time (datetime.datetime): The end, exclusive.
        id (str): The identifier, `slt_…`.
        start_time (datetime.datetime): The start.
        weight (float): The organizer's preference for the slot, 0 to 10.
        calendar_id (None | str | Unset): The calendar on which the event is created. Null means the proposal's
            calendar.
    """

    end_time: datetime.datetime
    id: str
    start_time: datetime.datetime
    weight: float
    calendar_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        end_time = self.end_time.isoformat()

        id = self.id

        start_time = self.start_time.isoformat()

        weight = self.weight

        calendar_id: None | str | Unset
        if isinstance(self.calendar_id, Unset):
            calendar_id = UNSET
        else:
            calendar_id = self.calendar_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "end_time": end_time,
                "id": id,
                "start_time": start_time,
                "weight": weight,
            }
        )
        if calendar_id is not UNSET:
            field_dict["calendar_id"] = calendar_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end_time = datetime.datetime.fromisoformat(d.pop("end_time"))

        id = d.pop("id")

        start_time = datetime.datetime.fromisoformat(d.pop("start_time"))

        weight = d.pop("weight")

        def _parse_calendar_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        calendar_id = _parse_calendar_id(d.pop("calendar_id", UNSET))

        proposal_slot = cls(
            end_time=end_time,
            id=id,
            start_time=start_time,
            weight=weight,
            calendar_id=calendar_id,
        )

        proposal_slot.additional_properties = d
        return proposal_slot

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
