from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.booking_status import BookingStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.guest_booking_answers import GuestBookingAnswers
    from ..models.guest_event import GuestEvent
    from ..models.open_page import OpenPage


T = TypeVar("T", bound="GuestBooking")


@_attrs_define
class GuestBooking:
    """A booking, as its guest sees it.

    Attributes:
        booking_page (OpenPage): A booking page, as guests see it.
        booking_page_id (str): The booking page, `bkp_…`.
        email (str): The address that receives mail about the booking.
        name (str): The guest's name.
        status (BookingStatus):
        answers (GuestBookingAnswers | Unset): The guest's answers, by the ids of the questions. Absent if there are
            none.
        event (GuestEvent | None | Unset):
        notes (None | str | Unset): The guest's notes.
    """

    booking_page: OpenPage
    booking_page_id: str
    email: str
    name: str
    status: BookingStatus
    answers: GuestBookingAnswers | Unset = UNSET
    event: GuestEvent | None | Unset = UNSET
    notes: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.guest_event import GuestEvent

        booking_page = self.booking_page.to_dict()

        booking_page_id = self.booking_page_id

        email = self.email

        name = self.name

        status = self.status.value

        answers: dict[str, Any] | Unset = UNSET
        if not isinstance(self.answers, Unset):
            answers = self.answers.to_dict()

        event: dict[str, Any] | None | Unset
        if isinstance(self.event, Unset):
            event = UNSET
        elif isinstance(self.event, GuestEvent):
            event = self.event.to_dict()
        else:
            event = self.event

        notes: None | str | Unset
        if isinstance(self.notes, Unset):
            notes = UNSET
        else:
            notes = self.notes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "booking_page": booking_page,
                "booking_page_id": booking_page_id,
                "email": email,
                "name": name,
                "status": status,
            }
        )
        if answers is not UNSET:
            field_dict["answers"] = answers
        if event is not UNSET:
            field_dict["event"] = event
        if notes is not UNSET:
            field_dict["notes"] = notes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.guest_booking_answers import GuestBookingAnswers
        from ..models.guest_event import GuestEvent
        from ..models.open_page import OpenPage

        d = dict(src_dict)
        booking_page = OpenPage.from_dict(d.pop("booking_page"))

        booking_page_id = d.pop("booking_page_id")

        email = d.pop("email")

        name = d.pop("name")

        status = BookingStatus(d.pop("status"))

        _answers = d.pop("answers", UNSET)
        answers: GuestBookingAnswers | Unset
        if isinstance(_answers, Unset):
            answers = UNSET
        else:
            answers = GuestBookingAnswers.from_dict(_answers)

        def _parse_event(data: object) -> GuestEvent | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                event_type_0 = GuestEvent.from_dict(data)

                return event_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GuestEvent | None | Unset, data)

        event = _parse_event(d.pop("event", UNSET))

        def _parse_notes(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        notes = _parse_notes(d.pop("notes", UNSET))

        guest_booking = cls(
            booking_page=booking_page,
            booking_page_id=booking_page_id,
            email=email,
            name=name,
            status=status,
            answers=answers,
            event=event,
            notes=notes,
        )

        guest_booking.additional_properties = d
        return guest_booking

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
