from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.assignment_name import AssignmentName
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.notice import Notice
    from ..models.notify_consent import NotifyConsent
    from ..models.question import Question
    from ..models.working_hours import WorkingHours


T = TypeVar("T", bound="BookingPage")


@_attrs_define
class BookingPage:
    """A public page on which guests book slots of a calendar.

    Attributes:
        active (bool): Whether the page accepts bookings.
        booking_url (str): The address on which guests book.
        bookings_count (int): The number of bookings that were made on the page, including cancelled ones.
        buffer_minutes (int): Minutes kept free before and after everything that blocks.
        calendar_id (str): The calendar that is booked, `cal_…`.
        created_at (datetime.datetime): When the page was created.
        duration_minutes (int): The length of a slot, in minutes.
        embed_origins (list[str]): The sites that may show the page in a frame.
        guest_reminders (list[int]): Minutes before the start at which the guest of a booking gets an email, largest
            first.
        id (str): The identifier, `bkp_…`.
        min_notice_minutes (int): The minimum time between a booking and the start of its slot, in minutes.
        notify_consents (list[NotifyConsent]): Which of these addresses get emails.
        notify_emails (list[str]): The addresses that get an email about each booking.
        org_id (str): The owning organization, `org_…`.
        questions (list[Question]): What guests are asked.
        seats (int): How many guests can book the same slot.
        slug (str): The last part of the page's address. Anyone who has it can book. A generated one is a secret.
        timezone (str): The IANA time zone of the slots.
        title (str): The title of the page, which says what is booked.
        updated_at (datetime.datetime): When the page was last changed. Bookings do not count as changes.
        window_days (int): The number of days ahead for which slots are offered.
        accent_color (None | str | Unset): The color of the page's buttons, as `#rrggbb`.
        agent_id (None | str | Unset): The agent that owns the calendar; null for a shared calendar.
        assignment (AssignmentName | None | Unset):
        availability_constraints (None | Unset | WorkingHours):
        calendars (list[str] | None | Unset): All calendars that are booked, `calendar_id` first. One that was deleted
            stays in the list, but takes no part. Null if
            `calendar_id` is the only one.
        conference_url (None | str | Unset): The call in which bookings take place, an https URL. Guests see it once
            they have booked.
        description (None | str | Unset): A description, as free text.
        host_name (None | str | Unset): Who receives the guests.
        location (None | str | Unset): Where bookings take place.
        max_per_day (int | None | Unset): The maximum number of bookings on one date of the page's zone. Null means no
            maximum.
        notices (list[Notice] | Unset): What deserves attention although the request succeeded. Only in answers to
            writes, and absent if there is nothing.
    """

    active: bool
    booking_url: str
    bookings_count: int
    buffer_minutes: int
    calendar_id: str
    created_at: datetime.datetime
    duration_minutes: int
    embed_origins: list[str]
    guest_reminders: list[int]
    id: str
    min_notice_minutes: int
    notify_consents: list[NotifyConsent]
    notify_emails: list[str]
    org_id: str
    questions: list[Question]
    seats: int
    slug: str
    timezone: str
    title: str
    updated_at: datetime.datetime
    window_days: int
    accent_color: None | str | Unset = UNSET
    agent_id: None | str | Unset = UNSET
    assignment: AssignmentName | None | Unset = UNSET
    availability_constraints: None | Unset | WorkingHours = UNSET
    calendars: list[str] | None | Unset = UNSET
    conference_url: None | str | Unset = UNSET
    description: None | str | Unset = UNSET
    host_name: None | str | Unset = UNSET
    location: None | str | Unset = UNSET
    max_per_day: int | None | Unset = UNSET
    notices: list[Notice] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.working_hours import WorkingHours

        active = self.active

        booking_url = self.booking_url

        bookings_count = self.bookings_count

        buffer_minutes = self.buffer_minutes

        calendar_id = self.calendar_id

        created_at = self.created_at.isoformat()

        duration_minutes = self.duration_minutes

        embed_origins = self.embed_origins

        guest_reminders = self.guest_reminders

        id = self.id

        min_notice_minutes = self.min_notice_minutes

        notify_consents = []
        for notify_consents_item_data in self.notify_consents:
            notify_consents_item = notify_consents_item_data.to_dict()
            notify_consents.append(notify_consents_item)

        notify_emails = self.notify_emails

        org_id = self.org_id

        questions = []
        for questions_item_data in self.questions:
            questions_item = questions_item_data.to_dict()
            questions.append(questions_item)

        seats = self.seats

        slug = self.slug

        timezone = self.timezone

        title = self.title

        updated_at = self.updated_at.isoformat()

        window_days = self.window_days

        accent_color: None | str | Unset
        if isinstance(self.accent_color, Unset):
            accent_color = UNSET
        else:
            accent_color = self.accent_color

        agent_id: None | str | Unset
        if isinstance(self.agent_id, Unset):
            agent_id = UNSET
        else:
            agent_id = self.agent_id

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
                "active": active,
                "booking_url": booking_url,
                "bookings_count": bookings_count,
                "buffer_minutes": buffer_minutes,
                "calendar_id": calendar_id,
                "created_at": created_at,
                "duration_minutes": duration_minutes,
                "embed_origins": embed_origins,
                "guest_reminders": guest_reminders,
                "id": id,
                "min_notice_minutes": min_notice_minutes,
                "notify_consents": notify_consents,
                "notify_emails": notify_emails,
                "org_id": org_id,
                "questions": questions,
                "seats": seats,
                "slug": slug,
                "timezone": timezone,
                "title": title,
                "updated_at": updated_at,
                "window_days": window_days,
            }
        )
        if accent_color is not UNSET:
            field_dict["accent_color"] = accent_color
        if agent_id is not UNSET:
            field_dict["agent_id"] = agent_id
        if assignment is not UNSET:
            field_dict["assignment"] = assignment
        if availability_constraints is not UNSET:
            field_dict["availability_constraints"] = availability_constraints
        if calendars is not UNSET:
            field_dict["calendars"] = calendars
        if conference_url is not UNSET:
            field_dict["conference_url"] = conference_url
        if description is not UNSET:
            field_dict["description"] = description
        if host_name is not UNSET:
            field_dict["host_name"] = host_name
        if location is not UNSET:
            field_dict["location"] = location
        if max_per_day is not UNSET:
            field_dict["max_per_day"] = max_per_day
        if notices is not UNSET:
            field_dict["notices"] = notices

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.notice import Notice
        from ..models.notify_consent import NotifyConsent
        from ..models.question import Question
        from ..models.working_hours import WorkingHours

        d = dict(src_dict)
        active = d.pop("active")

        booking_url = d.pop("booking_url")

        bookings_count = d.pop("bookings_count")

        buffer_minutes = d.pop("buffer_minutes")

        calendar_id = d.pop("calendar_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        duration_minutes = d.pop("duration_minutes")

        embed_origins = cast(list[str], d.pop("embed_origins"))

        guest_reminders = cast(list[int], d.pop("guest_reminders"))

        id = d.pop("id")

        min_notice_minutes = d.pop("min_notice_minutes")

        notify_consents = []
        _notify_consents = d.pop("notify_consents")
        for notify_consents_item_data in _notify_consents:
            notify_consents_item = NotifyConsent.from_dict(notify_consents_item_data)

            notify_consents.append(notify_consents_item)

        notify_emails = cast(list[str], d.pop("notify_emails"))

        org_id = d.pop("org_id")

        questions = []
        _questions = d.pop("questions")
        for questions_item_data in _questions:
            questions_item = Question.from_dict(questions_item_data)

            questions.append(questions_item)

        seats = d.pop("seats")

        slug = d.pop("slug")

        timezone = d.pop("timezone")

        title = d.pop("title")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        window_days = d.pop("window_days")

        def _parse_accent_color(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        accent_color = _parse_accent_color(d.pop("accent_color", UNSET))

        def _parse_agent_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        agent_id = _parse_agent_id(d.pop("agent_id", UNSET))

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

        _notices = d.pop("notices", UNSET)
        notices: list[Notice] | Unset = UNSET
        if _notices is not UNSET:
            notices = []
            for notices_item_data in _notices:
                notices_item = Notice.from_dict(notices_item_data)

                notices.append(notices_item)

        booking_page = cls(
            active=active,
            booking_url=booking_url,
            bookings_count=bookings_count,
            buffer_minutes=buffer_minutes,
            calendar_id=calendar_id,
            created_at=created_at,
            duration_minutes=duration_minutes,
            embed_origins=embed_origins,
            guest_reminders=guest_reminders,
            id=id,
            min_notice_minutes=min_notice_minutes,
            notify_consents=notify_consents,
            notify_emails=notify_emails,
            org_id=org_id,
            questions=questions,
            seats=seats,
            slug=slug,
            timezone=timezone,
            title=title,
            updated_at=updated_at,
            window_days=window_days,
            accent_color=accent_color,
            agent_id=agent_id,
            assignment=assignment,
            availability_constraints=availability_constraints,
            calendars=calendars,
            conference_url=conference_url,
            description=description,
            host_name=host_name,
            location=location,
            max_per_day=max_per_day,
            notices=notices,
        )

        booking_page.additional_properties = d
        return booking_page

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
