from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.assignment_name import AssignmentName
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.question import Question
    from ..models.working_hours import WorkingHours


T = TypeVar("T", bound="UpdateBookingPage")


@_attrs_define
class UpdateBookingPage:
    """The fields of a booking page that a PATCH can change. At least one is required.

    Attributes:
        accent_color (None | str | Unset): The color of the page's buttons, as `#rrggbb`. Null restores the usual one.
        active (bool | Unset): Whether the page accepts bookings.
        assignment (AssignmentName | None | Unset):
        availability_constraints (None | Unset | WorkingHours):
        buffer_minutes (int | Unset): Minutes to keep free before and after everything that blocks.
        calendars (list[str] | None | Unset): Replaces the calendars to book, 2-20 with the page's own, which counts
            whether it is named or not. Null leaves only
            the page's own.
        conference_url (None | str | Unset): The call in which later bookings take place, an https URL. Null clears it.
        description (None | str | Unset): A new description of up to 5,000 characters. Null clears it.
        duration_minutes (int | Unset): The length of a slot, in minutes.
        embed_origins (list[str] | Unset): Replaces the sites that may show the page in a frame.
        guest_reminders (list[int] | Unset): Replaces the minutes before the start at which guests get an email.
            Bookings that were made before keep theirs.
        host_name (None | str | Unset): Who receives the guests. Null clears it.
        location (None | str | Unset): Where later bookings take place. Null clears it.
        max_per_day (int | None | Unset): The maximum number of bookings on one date of the page's zone. Null removes
            it.
        min_notice_minutes (int | Unset): The minimum time between a booking and the start of its slot, in minutes.
        notify_emails (list[str] | Unset): Replaces the addresses that get an email about each booking. Answers of
            addresses that stay are kept.
        questions (list[Question] | Unset): Replaces all questions to guests.
        seats (int | Unset): How many guests can book the same slot. Bookings that were made before stay.
        slug (str | Unset): A new last part of the page's address. The old address no longer works, but the links in
            emails to guests do.
        timezone (str | Unset): The IANA time zone of the slots.
        title (str | Unset): A new title, 1-255 characters. Must not be blank or contain NUL.
        window_days (int | Unset): The number of days ahead for which slots are offered.
    """

    accent_color: None | str | Unset = UNSET
    active: bool | Unset = UNSET
    assignment: AssignmentName | None | Unset = UNSET
    availability_constraints: None | Unset | WorkingHours = UNSET
    buffer_minutes: int | Unset = UNSET
    calendars: list[str] | None | Unset = UNSET
    conference_url: None | str | Unset = UNSET
    description: None | str | Unset = UNSET
    duration_minutes: int | Unset = UNSET
    embed_origins: list[str] | Unset = UNSET
    guest_reminders: list[int] | Unset = UNSET
    host_name: None | str | Unset = UNSET
    location: None | str | Unset = UNSET
    max_per_day: int | None | Unset = UNSET
    min_notice_minutes: int | Unset = UNSET
    notify_emails: list[str] | Unset = UNSET
    questions: list[Question] | Unset = UNSET
    seats: int | Unset = UNSET
    slug: str | Unset = UNSET
    timezone: str | Unset = UNSET
    title: str | Unset = UNSET
    window_days: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.working_hours import WorkingHours

        accent_color: None | str | Unset
        if isinstance(self.accent_color, Unset):
            accent_color = UNSET
        else:
            accent_color = self.accent_color

        active = self.active

        assignment: None | str | Unset
        if isinstance(self.assignment, Unset):
            assignment = UNSET
        elif isinstance(self.assignment, AssignmentName):
            assignment = self.assignment.value
        else:
            assignment = self.assignment

        availability_constraints: dict[str, Any] | None | Unset
        if isinstance(self.availability_constraints, Unset):
            availability_constraints = UNSET
        elif isinstance(self.availability_constraints, WorkingHours):
            availability_constraints = self.availability_constraints.to_dict()
        else:
            availability_constraints = self.availability_constraints

        buffer_minutes = self.buffer_minutes

        calendars: list[str] | None | Unset
        if isinstance(self.calendars, Unset):
            calendars = UNSET
        elif isinstance(self.calendars, list):
            calendars = self.calendars

        else:
            calendars = self.calendars

        conference_url: None | str | Unset
        if isinstance(self.conference_url, Unset):
            conference_url = UNSET
        else:
            conference_url = self.conference_url

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        duration_minutes = self.duration_minutes

        embed_origins: list[str] | Unset = UNSET
        if not isinstance(self.embed_origins, Unset):
            embed_origins = self.embed_origins

        guest_reminders: list[int] | Unset = UNSET
        if not isinstance(self.guest_reminders, Unset):
            guest_reminders = self.guest_reminders

        host_name: None | str | Unset
        if isinstance(self.host_name, Unset):
            host_name = UNSET
        else:
            host_name = self.host_name

        location: None | str | Unset
        if isinstance(self.location, Unset):
            location = UNSET
        else:
            location = self.location

        max_per_day: int | None | Unset
        if isinstance(self.max_per_day, Unset):
            max_per_day = UNSET
        else:
            max_per_day = self.max_per_day

        min_notice_minutes = self.min_notice_minutes

        notify_emails: list[str] | Unset = UNSET
        if not isinstance(self.notify_emails, Unset):
            notify_emails = self.notify_emails

        questions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.questions, Unset):
            questions = []
            for questions_item_data in self.questions:
                questions_item = questions_item_data.to_dict()
                questions.append(questions_item)

        seats = self.seats

        slug = self.slug

        timezone = self.timezone

        title = self.title

        window_days = self.window_days

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if accent_color is not UNSET:
            field_dict["accent_color"] = accent_color
        if active is not UNSET:
            field_dict["active"] = active
        if assignment is not UNSET:
            field_dict["assignment"] = assignment
        if availability_constraints is not UNSET:
            field_dict["availability_constraints"] = availability_constraints
        if buffer_minutes is not UNSET:
            field_dict["buffer_minutes"] = buffer_minutes
        if calendars is not UNSET:
            field_dict["calendars"] = calendars
        if conference_url is not UNSET:
            field_dict["conference_url"] = conference_url
        if description is not UNSET:
            field_dict["description"] = description
        if duration_minutes is not UNSET:
            field_dict["duration_minutes"] = duration_minutes
        if embed_origins is not UNSET:
            field_dict["embed_origins"] = embed_origins
        if guest_reminders is not UNSET:
            field_dict["guest_reminders"] = guest_reminders
        if host_name is not UNSET:
            field_dict["host_name"] = host_name
        if location is not UNSET:
            field_dict["location"] = location
        if max_per_day is not UNSET:
            field_dict["max_per_day"] = max_per_day
        if min_notice_minutes is not UNSET:
            field_dict["min_notice_minutes"] = min_notice_minutes
        if notify_emails is not UNSET:
            field_dict["notify_emails"] = notify_emails
        if questions is not UNSET:
            field_dict["questions"] = questions
        if seats is not UNSET:
            field_dict["seats"] = seats
        if slug is not UNSET:
            field_dict["slug"] = slug
        if timezone is not UNSET:
            field_dict["timezone"] = timezone
        if title is not UNSET:
            field_dict["title"] = title
        if window_days is not UNSET:
            field_dict["window_days"] = window_days

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.question import Question
        from ..models.working_hours import WorkingHours

        d = dict(src_dict)

        def _parse_accent_color(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        accent_color = _parse_accent_color(d.pop("accent_color", UNSET))

        active = d.pop("active", UNSET)

        def _parse_assignment(data: object) -> AssignmentName | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                assignment_type_0 = AssignmentName(data)

                return assignment_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AssignmentName | None | Unset, data)

        assignment = _parse_assignment(d.pop("assignment", UNSET))

        def _parse_availability_constraints(
            data: object,
        ) -> None | Unset | WorkingHours:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                availability_constraints_type_0 = WorkingHours.from_dict(data)

                return availability_constraints_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | WorkingHours, data)

        availability_constraints = _parse_availability_constraints(
            d.pop("availability_constraints", UNSET)
        )

        buffer_minutes = d.pop("buffer_minutes", UNSET)

        def _parse_calendars(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                calendars_type_0 = cast(list[str], data)

                return calendars_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        calendars = _parse_calendars(d.pop("calendars", UNSET))

        def _parse_conference_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        conference_url = _parse_conference_url(d.pop("conference_url", UNSET))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        duration_minutes = d.pop("duration_minutes", UNSET)

        embed_origins = cast(list[str], d.pop("embed_origins", UNSET))

        guest_reminders = cast(list[int], d.pop("guest_reminders", UNSET))

        def _parse_host_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        host_name = _parse_host_name(d.pop("host_name", UNSET))

        def _parse_location(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        location = _parse_location(d.pop("location", UNSET))

        def _parse_max_per_day(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_per_day = _parse_max_per_day(d.pop("max_per_day", UNSET))

        min_notice_minutes = d.pop("min_notice_minutes", UNSET)

        notify_emails = cast(list[str], d.pop("notify_emails", UNSET))

        _questions = d.pop("questions", UNSET)
        questions: list[Question] | Unset = UNSET
        if _questions is not UNSET:
            questions = []
            for questions_item_data in _questions:
                questions_item = Question.from_dict(questions_item_data)

                questions.append(questions_item)

        seats = d.pop("seats", UNSET)

        slug = d.pop("slug", UNSET)

        timezone = d.pop("timezone", UNSET)

        title = d.pop("title", UNSET)

        window_days = d.pop("window_days", UNSET)

        update_booking_page = cls(
            accent_color=accent_color,
            active=active,
            assignment=assignment,
            availability_constraints=availability_constraints,
            buffer_minutes=buffer_minutes,
            calendars=calendars,
            conference_url=conference_url,
            description=description,
            duration_minutes=duration_minutes,
            embed_origins=embed_origins,
            guest_reminders=guest_reminders,
            host_name=host_name,
            location=location,
            max_per_day=max_per_day,
            min_notice_minutes=min_notice_minutes,
            notify_emails=notify_emails,
            questions=questions,
            seats=seats,
            slug=slug,
            timezone=timezone,
            title=title,
            window_days=window_days,
        )

        return update_booking_page
