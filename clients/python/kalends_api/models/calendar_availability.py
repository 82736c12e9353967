from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.availability_state import AvailabilityState
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.slot import Slot


T = TypeVar("T", bound="CalendarAvailability")


@_attrs_define
class CalendarAvailability:
    """The times at which a calendar is free.

    Attributes:
        as_of (str): An opaque token of the state of the calendars that the answer is based on. Send it as `if_as_of`
            with a hold.
        availability_state (AvailabilityState): How complete and current the busy times behind an answer are.
        calendar_id (str): The calendar.
        slots (list[Slot]): The free slots.
        warnings (list[str]): Warnings about the answer.
        busy (list[Slot] | Unset): The busy times, merged and clipped to the range; only with `include_busy=true`.
    """

    as_of: str
    availability_state: AvailabilityState
    calendar_id: str
    slots: list[Slot]
    warnings: list[str]
    busy: list[Slot] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        as_of = self.as_of

        availability_state = self.availability_state.value

        calendar_id = self.calendar_id

        slots = []
        for slots_item_data in self.slots:
            slots_item = slots_item_data.to_dict()
            slots.append(slots_item)

        warnings = self.warnings

        busy: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.busy, Unset):
            busy = []
            for busy_item_data in self.busy:
                busy_item = busy_item_data.to_dict()
                busy.append(busy_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "as_of": as_of,
                "availability_state": availability_state,
                "calendar_id": calendar_id,
                "slots": slots,
                "warnings": warnings,
            }
        )
        if busy is not UNSET:
            field_dict["busy"] = busy

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.slot import Slot

        d = dict(src_dict)
        as_of = d.pop("as_of")

        availability_state = AvailabilityState(d.pop("availability_state"))

        calendar_id = d.pop("calendar_id")

        slots = []
        _slots = d.pop("slots")
        for slots_item_data in _slots:
            slots_item = Slot.from_dict(slots_item_data)

            slots.append(slots_item)

        warnings = cast(list[str], d.pop("warnings"))

        _busy = d.pop("busy", UNSET)
        busy: list[Slot] | Unset = UNSET
        if _busy is not UNSET:
            busy = []
            for busy_item_data in _busy:
                busy_item = Slot.from_dict(busy_item_data)

                busy.append(busy_item)

        calendar_availability = cls(
            as_of=as_of,
            availability_state=availability_state,
            calendar_id=calendar_id,
            slots=slots,
            warnings=warnings,
            busy=busy,
        )

        calendar_availability.additional_properties = d
        return calendar_availability

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
