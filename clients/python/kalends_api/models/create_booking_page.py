from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.assignment_name import AssignmentName
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.question import Question
    from ..models.working_hours import WorkingHours


T = TypeVar("T", bound="CreateBookingPage")


@_attrs_define
class CreateBookingPage:
    """The fields of a new booking page.

    Attributes:
        calendar_id (str): The calendar to book, `cal_…`.
        title (str): A title that says what is booked, 1-255 characters. Must not be blank or contain NUL.
        accent_color (None | str | Unset): The color of the page's buttons, as `#rrggbb`. Text on it is black or white.
            Links have it where it can be read.
        active (bool | None | Unset): Whether the page accepts bookings. Defaults to true.
        assignment (AssignmentName | None | Unset):
        availability_constraints (None | Unset | WorkingHours):
        buffer_minutes (int | None | Unset): Minutes to keep free before and after everything that blocks. Default: 0.
        calendars (list[str] | None | Unset): All calendars to book, 2-20 with `calendar_id`, which counts whether it is
            named or not. Needs `assignment`.
        conference_url (None | str | Unset): The call in which bookings take place, an https URL. Their events get it,
            and guests see it once they have booked.
        description (None | str | Unset): A description of up to 5,000 characters.
        duration_minutes (int | None | Unset): The length of a slot, in minutes. Default: 30.
        embed_origins (list[str] | None | Unset): The sites that may show the page in a frame: origins such as
            `https://www.example.com`.
        guest_reminders (list[int] | None | Unset): Minutes before the start at which the guest of a booking gets an
            email, each 1-40320. Defaults to none.
        host_name (None | str | Unset): Who receives the guests, on one line.
        location (None | str | Unset): Where bookings take place. Their events get it.
        max_per_day (int | None | Unset): The maximum number of bookings on one date of the page's zone. Without it
            there is no maximum.
        min_notice_minutes (int | None | Unset): The minimum time between a booking and the start of its slot, in
            minutes. Default: 0.
        notify_emails (list[str] | None | Unset): The addresses that get an email about each booking: when it is made,
            moved and cancelled. Addresses that do not
            belong to a member of the organization are asked by email first, and get nothing else until they agree.
        questions (list[Question] | None | Unset): What guests are asked.
        seats (int | None | Unset): How many guests can book the same slot. They share its event. Must be 1 on a page
            with `calendars`. Default: 1.
        slug (None | str | Unset): The last part of the page's address, 3-60 of `a-z`, `0-9` and `-`, such as `intro-
            call`. Everyone can guess it.
            Without it, the page gets a random one.
        timezone (None | str | Unset): The IANA time zone of the slots. Defaults to that of the calendar.
        window_days (int | None | Unset): The number of days ahead for which slots are offered. Default: 14.
    """

    calendar_id: str
    title: str
    accent_color: None | str | Unset = UNSET
    active: bool | None | Unset = UNSET
    assignment: AssignmentName | None | Unset = UNSET
    availability_constraints: None | Unset | WorkingHours = UNSET
    buffer_minutes: int | None | Unset = 0
    calendars: list[str] | None | Unset = UNSET
    conference_url: None | str | Unset = UNSET
    description: None | str | Unset = UNSET
    duration_minutes: int | None | Unset = 30
    embed_origins: list[str] | None | Unset = UNSET
    guest_reminders: list[int] | None | Unset = UNSET
    host_name: None | str | Unset = UNSET
    location: None | str | Unset = UNSET
    max_per_day: int | None | Unset = UNSET
    min_notice_minutes: int | None | Unset = 0
    notify_emails: list[str] | None | Unset = UNSET
    questions: list[Question] | None | Unset = UNSET
    seats: int | None | Unset = 1
    slug: None | str | Unset = UNSET
    timezone: None | str | Unset = UNSET
    window_days: int | None | Unset = 14

    def to_dict(self) -> dict[str, Any]:
        from ..models.working_hours import WorkingHours

        calendar_id = self.calendar_id

        title = self.title

        accent_color: None | str | Unset
        if isinstance(self.accent_color, Unset):
            accent_color = UNSET
        else:
            accent_color = self.accent_color

        active: bool | None | Unset
        if isinstance(self.active, Unset):
            active = UNSET
        else:
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

        buffer_minutes: int | None | Unset
        if isinstance(self.buffer_minutes, Unset):
            buffer_minutes = UNSET
        else:
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

        duration_minutes: int | None | Unset
        if isinstance(self.duration_minutes, Unset):
            duration_minutes = UNSET
        else:
            duration_minutes = self.duration_minutes

        embed_origins: list[str] | None | Unset
        if isinstance(self.embed_origins, Unset):
            embed_origins = UNSET
        elif isinstance(self.embed_origins, list):
            embed_origins = self.embed_origins

        else:
            embed_origins = self.embed_origins

        guest_reminders: list[int] | None | Unset
        if isinstance(self.guest_reminders, Unset):
            guest_reminders = UNSET
        elif isinstance(self.guest_reminders, list):
            guest_reminders = self.guest_reminders

        else:
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

        min_notice_minutes: int | None | Unset
        if isinstance(self.min_notice_minutes, Unset):
            min_notice_minutes = UNSET
        else:
            min_notice_minutes = self.min_notice_minutes

        notify_emails: list[str] | None | Unset
        if isinstance(self.notify_emails, Unset):
            notify_emails = UNSET
        elif isinstance(self.notify_emails, list):
            notify_emails = self.notify_emails

        else:
            notify_emails = self.notify_emails

        questions: list[dict[str, Any]] | None | Unset
        if isinstance(self.questions, Unset):
            questions = UNSET
        elif isinstance(self.questions, list):
            questions = []
            for questions_type_0_item_data in self.questions:
                questions_type_0_item = questions_type_0_item_data.to_dict()
                questions.append(questions_type_0_item)

        else:
            questions = self.questions

        seats: int | None | Unset
        if isinstance(self.seats, Unset):
            seats = UNSET
        else:
            seats = self.seats

        slug: None | str | Unset
        if isinstance(self.slug, Unset):
            slug = UNSET
        else:
            slug = self.slug

        timezone: None | str | Unset
        if isinstance(self.timezone, Unset):
            timezone = UNSET
        else:
            timezone = self.timezone

        window_days: int | None | Unset
        if isinstance(self.window_days, Unset):
            window_days = UNSET
        else:
            window_days = self.window_days

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "calendar_id": calendar_id,
                "title": title,
            }
        )
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
        if window_days is not UNSET:
            field_dict["window_days"] = window_days

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.question import Question
        from ..models.working_hours import WorkingHours

        d = dict(src_dict)
        calendar_id = d.pop("calendar_id")

        title = d.pop("title")

        def _parse_accent_color(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        accent_color = _parse_accent_color(d.pop("accent_color", UNSET))

        def _parse_active(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        active = _parse_active(d.pop("active", UNSET))

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

        def _parse_buffer_minutes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        buffer_minutes = _parse_buffer_minutes(d.pop("buffer_minutes", UNSET))

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

        def _parse_duration_minutes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        duration_minutes = _parse_duration_minutes(d.pop("duration_minutes", UNSET))

        def _parse_embed_origins(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                embed_origins_type_0 = cast(list[str], data)

                return embed_origins_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        embed_origins = _parse_embed_origins(d.pop("embed_origins", UNSET))

        def _parse_guest_reminders(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                guest_reminders_type_0 = cast(list[int], data)

                return guest_reminders_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        guest_reminders = _parse_guest_reminders(d.pop("guest_reminders", UNSET))

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

        def _parse_min_notice_minutes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        min_notice_minutes = _parse_min_notice_minutes(
            d.pop("min_notice_minutes", UNSET)
        )

        def _parse_notify_emails(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                notify_emails_type_0 = cast(list[str], data)

                return notify_emails_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        notify_emails = _parse_notify_emails(d.pop("notify_emails", UNSET))

        def _parse_questions(data: object) -> list[Question] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                questions_type_0 = []
                _questions_type_0 = data
                for questions_type_0_item_data in _questions_type_0:
                    questions_type_0_item = Question.from_dict(
                        questions_type_0_item_data
                    )

                    questions_type_0.append(questions_type_0_item)

                return questions_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Question] | None | Unset, data)

        questions = _parse_questions(d.pop("questions", UNSET))

        def _parse_seats(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        seats = _parse_seats(d.pop("seats", UNSET))

        def _parse_slug(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        slug = _parse_slug(d.pop("slug", UNSET))

        def _parse_timezone(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        timezone = _parse_timezone(d.pop("timezone", UNSET))

        def _parse_window_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        window_days = _parse_window_days(d.pop("window_days", UNSET))

        create_booking_page = cls(
            calendar_id=calendar_id,
            title=title,
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
            window_days=window_days,
        )

        return create_booking_page
