from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.booking_status import BookingStatus
from ..models.cancelled_by_name import CancelledByName
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.booking_answers import BookingAnswers


T = TypeVar("T", bound="Booking")


@_attrs_define
class Booking:
    """A booking, as the owner of the page sees it.

    Attributes:
        answers (BookingAnswers): The guest's answers, by the ids of the questions.
        booking_page_id (str): The page on which it was made, `bkp_…`.
        calendar_id (str): The calendar on which the event is, `cal_…`.
        created_at (datetime.datetime): When the booking was made.
        email (str): The address that receives mail about the booking.
        end_time (datetime.datetime): The end of the event, exclusive.
        event_id (str): The event, `evt_…`.
        id (str): The identifier, `bkg_…`.
        name (str): The guest's name.
        start_time (datetime.datetime): The start of the event as it is now. A cancelled booking keeps it.
        status (BookingStatus):
        cancelled_at (datetime.datetime | None | Unset): When it was cancelled. Null if it was not.
        cancelled_by (CancelledByName | None | Unset):
        notes (None | str | Unset): The guest's notes.
    """

    answers: BookingAnswers
    booking_page_id: str
    calendar_id: str
    created_at: datetime.datetime
    email: str
    end_time: datetime.datetime
    event_id: str
    id: str
    name: str
    start_time: datetime.datetime
    status: BookingStatus
    cancelled_at: datetime.datetime | None | Unset = UNSET
    cancelled_by: CancelledByName | None | Unset = UNSET
    notes: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        answers = self.answers.to_dict()

        booking_page_id = self.booking_page_id

        calendar_id = self.calendar_id

        created_at = self.created_at.isoformat()

        email = self.email

        end_time = self.end_time.isoformat()

        event_id = self.event_id

        id = self.id

        name = self.name

        start_time = self.start_time.isoformat()

        status = self.status.value

        cancelled_at: None | str | Unset
        if isinstance(self.cancelled_at, Unset):
            cancelled_at = UNSET
        elif isinstance(self.cancelled_at, datetime.datetime):
            cancelled_at = self.cancelled_at.isoformat()
        else:
            cancelled_at = self.cancelled_at

        cancelled_by: None | str | Unset
        if isinstance(self.cancelled_by, Unset):
            cancelled_by = UNSET
        elif isinstance(self.cancelled_by, CancelledByName):
            cancelled_by = self.cancelled_by.value
        else:
            cancelled_by = self.cancelled_by

        notes: None | str | Unset
        if isinstance(self.notes, Unset):
            notes = UNSET
        else:
            notes = self.notes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "answers": answers,
                "booking_page_id": booking_page_id,
                "calendar_id": calendar_id,
                "created_at": created_at,
                "email": email,
                "end_time": end_time,
                "event_id": event_id,
                "id": id,
                "name": name,
                "start_time": start_time,
                "status": status,
            }
        )
        if cancelled_at is not UNSET:
            field_dict["cancelled_at"] = cancelled_at
        if cancelled_by is not UNSET:
            field_dict["cancelled_by"] = cancelled_by
        if notes is not UNSET:
            field_dict["notes"] = notes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.booking_answers import BookingAnswers

        d = dict(src_dict)
        answers = BookingAnswers.from_dict(d.pop("answers"))

        booking_page_id = d.pop("booking_page_id")

        calendar_id = d.pop("calendar_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        email = d.pop("email")

        end_time = datetime.datetime.fromisoformat(d.pop("end_time"))

        event_id = d.pop("event_id")

        id = d.pop("id")

        name = d.pop("name")

        start_time = datetime.datetime.fromisoformat(d.pop("start_time"))

        status = BookingStatus(d.pop("status"))

        def _parse_cancelled_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                cancelled_at_type_0 = datetime.datetime.fromisoformat(data)

                return cancelled_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        cancelled_at = _parse_cancelled_at(d.pop("cancelled_at", UNSET))

        def _parse_cancelled_by(data: object) -> CancelledByName | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                cancelled_by_type_0 = CancelledByName(data)

                return cancelled_by_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CancelledByName | None | Unset, data)

        cancelled_by = _parse_cancelled_by(d.pop("cancelled_by", UNSET))

        def _parse_notes(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        notes = _parse_notes(d.pop("notes", UNSET))

        booking = cls(
            answers=answers,
            booking_page_id=booking_page_id,
            calendar_id=calendar_id,
            created_at=created_at,
            email=email,
            end_time=end_time,
            event_id=event_id,
            id=id,
            name=name,
            start_time=start_time,
            status=status,
            cancelled_at=cancelled_at,
            cancelled_by=cancelled_by,
            notes=notes,
        )

        booking.additional_properties = d
        return booking

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
