from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BookingLinks")


@_attrs_define
class BookingLinks:
    """The addresses at which a guest can change a booking.

    Attributes:
        cancel_url (str): The address that cancels the booking with a POST without a body.
        ics_url (str): The address of the booking as an iCalendar file, which guests add to their calendars. It returns
            404 once the booking
            is cancelled.
        reschedule_url (None | str | Unset): The address that moves the booking with a POST of `start`. Absent if the
            address of this request can only cancel
            the booking.
    """

    cancel_url: str
    ics_url: str
    reschedule_url: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cancel_url = self.cancel_url

        ics_url = self.ics_url

        reschedule_url: None | str | Unset
        if isinstance(self.reschedule_url, Unset):
            reschedule_url = UNSET
        else:
            reschedule_url = self.reschedule_url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cancel_url": cancel_url,
                "ics_url": ics_url,
            }
        )
        if reschedule_url is not UNSET:
            field_dict["reschedule_url"] = reschedule_url

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        cancel_url = d.pop("cancel_url")

        ics_url = d.pop("ics_url")

        def _parse_reschedule_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reschedule_url = _parse_reschedule_url(d.pop("reschedule_url", UNSET))

        booking_links = cls(
            cancel_url=cancel_url,
            ics_url=ics_url,
            reschedule_url=reschedule_url,
        )

        booking_links.additional_properties = d
        return booking_links

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
