from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.submit_booking_answers import SubmitBookingAnswers


T = TypeVar("T", bound="SubmitBooking")


@_attrs_define
class SubmitBooking:
    """The fields of a guest's booking.

    Attributes:
        email (str): The address that receives the confirmation, at most 320 characters.
        name (str): Your name, 1-200 characters. Must not be blank or contain NUL.
        start (datetime.datetime): The start of one of the offered slots. RFC 3339 with an offset.
        answers (SubmitBookingAnswers | Unset): The answers to the page's questions, by their ids: text, or true or
            false for a checkbox. At most 4,096 bytes of
            JSON. In a form, the fields `answers[id]`.
        language (None | str | Unset): The language of the emails to you, with or without a region, such as pt-BR:
            English (en), German (de), French (fr),
            Spanish (es), Portuguese (pt) or Japanese (ja). Defaults to `lang` in the address, else to `Accept-Language`.
        notes (None | str | Unset): Notes for the host, up to 2,000 characters.
        timezone (None | str | Unset): The IANA time zone in which emails show you the time. Defaults to that of the
            page.
    """

    email: str
    name: str
    start: datetime.datetime
    answers: SubmitBookingAnswers | Unset = UNSET
    language: None | str | Unset = UNSET
    notes: None | str | Unset = UNSET
    timezone: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        name = self.name

        start = self.start.isoformat()

        answers: dict[str, Any] | Unset = UNSET
        if not isinstance(self.answers, Unset):
            answers = self.answers.to_dict()

        language: None | str | Unset
        if isinstance(self.language, Unset):
            language = UNSET
        else:
            language = self.language

        notes: None | str | Unset
        if isinstance(self.notes, Unset):
            notes = UNSET
        else:
            notes = self.notes

        timezone: None | str | Unset
        if isinstance(self.timezone, Unset):
            timezone = UNSET
        else:
            timezone = self.timezone

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
                "name": name,
                "start": start,
            }
        )
        if answers is not UNSET:
            field_dict["answers"] = answers
        if language is not UNSET:
            field_dict["language"] = language
        if notes is not UNSET:
            field_dict["notes"] = notes
        if timezone is not UNSET:
            field_dict["timezone"] = timezone

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.submit_booking_answers import SubmitBookingAnswers

        d = dict(src_dict)
        email = d.pop("email")

        name = d.pop("name")

        start = datetime.datetime.fromisoformat(d.pop("start"))

        _answers = d.pop("answers", UNSET)
        answers: SubmitBookingAnswers | Unset
        if isinstance(_answers, Unset):
            answers = UNSET
        else:
            answers = SubmitBookingAnswers.from_dict(_answers)

        def _parse_language(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        language = _parse_language(d.pop("language", UNSET))

        def _parse_notes(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        notes = _parse_notes(d.pop("notes", UNSET))

        def _parse_timezone(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        timezone = _parse_timezone(d.pop("timezone", UNSET))

        submit_booking = cls(
            email=email,
            name=name,
            start=start,
            answers=answers,
            language=language,
            notes=notes,
            timezone=timezone,
        )

        return submit_booking
