from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.open_page import OpenPage
    from ..models.page_notice import PageNotice
    from ..models.slot import Slot


T = TypeVar("T", bound="BookingSlots")


@_attrs_define
class BookingSlots:
    """The slots that can be booked on a page.

    Attributes:
        booking_page (OpenPage): A booking page, as guests see it.
        slots (list[Slot]): The offered slots, sorted by start. At most 5,000.
        next_from (datetime.datetime | None | Unset): The start of the first slot that is not listed: send it as `from`
            to continue. Absent on the last page.
        notices (list[PageNotice] | Unset): Why the page offers no slots right now, with the code `booking_closed`.
            Absent while bookings are accepted.
    """

    booking_page: OpenPage
    slots: list[Slot]
    next_from: datetime.datetime | None | Unset = UNSET
    notices: list[PageNotice] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        booking_page = self.booking_page.to_dict()

        slots = []
        for slots_item_data in self.slots:
            slots_item = slots_item_data.to_dict()
            slots.append(slots_item)

        next_from: None | str | Unset
        if isinstance(self.next_from, Unset):
            next_from = UNSET
        elif isinstance(self.next_from, datetime.datetime):
            next_from = self.next_from.isoformat()
        else:
            next_from = self.next_from

        notices: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.notices, Unset):
            notices = []
            for notices_item_data in self.notices:
                notices_item = notices_item_data.to_dict()
                notices.append(notices_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "booking_page": booking_page,
                "slots": slots,
            }
        )
        if next_from is not UNSET:
            field_dict["next_from"] = next_from
        if notices is not UNSET:
            field_dict["notices"] = notices

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.open_page import OpenPage
        from ..models.page_notice import PageNotice
        from ..models.slot import Slot

        d = dict(src_dict)
        booking_page = OpenPage.from_dict(d.pop("booking_page"))

        slots = []
        _slots = d.pop("slots")
        for slots_item_data in _slots:
            slots_item = Slot.from_dict(slots_item_data)

            slots.append(slots_item)

        def _parse_next_from(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_from_type_0 = datetime.datetime.fromisoformat(data)

                return next_from_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        next_from = _parse_next_from(d.pop("next_from", UNSET))

        _notices = d.pop("notices", UNSET)
        notices: list[PageNotice] | Unset = UNSET
        if _notices is not UNSET:
            notices = []
            for notices_item_data in _notices:
                notices_item = PageNotice.from_dict(notices_item_data)

                notices.append(notices_item)

        booking_slots = cls(
            booking_page=booking_page,
            slots=slots,
            next_from=next_from,
            notices=notices,
        )

        booking_slots.additional_properties = d
        return booking_slots

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
