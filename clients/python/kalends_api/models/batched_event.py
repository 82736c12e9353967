from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.settled_status import SettledStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.batched_event_metadata_type_0 import BatchedEventMetadataType0
    from ..models.new_attendee import NewAttendee


T = TypeVar("T", bound="BatchedEvent")


@_attrs_define
class BatchedEvent:
    """An event of a batch. It cannot be a hold.

    Attributes:
        end_time (str): The end, exclusive. RFC 3339 with an offset, or a plain date with `all_day`.
        start_time (str): The start. RFC 3339 with an offset, or a plain date with `all_day`.
        title (str): A title, 1-500 characters. Must not be blank or contain NUL.
        all_day (bool | Unset): Whether the event takes whole days in the calendar's zone.
        attendees (list[NewAttendee] | None | Unset): Who takes part: at most 200. Nobody gets mail unless
            `send_invitations` is set.
        conference_url (None | str | Unset): The address of the event's call: an https URL of at most 2,000 characters,
            without a user name or a password.
        description (None | str | Unset): A description of at most 20,000 characters.
        if_free (bool | Unset): Whether to create the event only if nothing else blocks its time. If something does, the
            answer is 409
            `slot_taken`. For a series, this is about its occurrences within a year. A hold has rules of its own.
        location (None | str | Unset): Where the event takes place, as free text of at most 500 characters.
        metadata (BatchedEventMetadataType0 | None | Unset): Your own data: an object of at most 16,384 bytes.
        recurrence_exdates (list[str] | None | Unset): The starts of cancelled occurrences, at most 1,000. Plain dates
            with `all_day`.
        recurrence_rule (None | str | Unset): Makes the event a series. An RFC 5545 RRULE of the supported subset,
            without `RRULE:`. A series that does not
            end within 90 days of its start requires a paid plan.
        recurrence_timezone (None | str | Unset): The IANA zone of the wall clock that the series follows, usually that
            of its calendar. By default,
            the `recurrence_default` of the calendar decides: UTC, or the calendar's zone. An all-day series follows its
            calendar's zone.
        reminders (list[int] | None | Unset): Up to 5 reminders, each 1-40320 minutes before the start. If absent, the
            event inherits those of the calendar.
        send_invitations (bool | Unset): Whether to mail each attendee an invitation with a link to reply. A request
            sends at most 200. Not for a hold.
        status (None | SettledStatus | Unset): Defaults to `confirmed`.
    """

    end_time: str
    start_time: str
    title: str
    all_day: bool | Unset = UNSET
    attendees: list[NewAttendee] | None | Unset = UNSET
    conference_url: None | str | Unset = UNSET
    description: None | str | Unset = UNSET
    if_free: bool | Unset = UNSET
    location: None | str | Unset = UNSET
    metadata: BatchedEventMetadataType0 | None | Unset = UNSET
    recurrence_exdates: list[str] | None | Unset = UNSET
    recurrence_rule: None | str | Unset = UNSET
    recurrence_timezone: None | str | Unset = UNSET
    reminders: list[int] | None | Unset = UNSET
    send_invitations: bool | Unset = UNSET
    status: None | SettledStatus | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.batched_event_metadata_type_0 import BatchedEventMetadataType0

        end_time = self.end_time

        start_time = self.start_time

        title = self.title

        all_day = self.all_day

        attendees: list[dict[str, Any]] | None | Unset
        if isinstance(self.attendees, Unset):
            attendees = UNSET
        elif isinstance(self.attendees, list):
            attendees = []
            for attendees_type_0_item_data in self.attendees:
                attendees_type_0_item = attendees_type_0_item_data.to_dict()
                attendees.append(attendees_type_0_item)

        else:
            attendees = self.attendees

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

        if_free = self.if_free

        location: None | str | Unset
        if isinstance(self.location, Unset):
            location = UNSET
        else:
            location = self.location

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, BatchedEventMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        recurrence_exdates: list[str] | None | Unset
        if isinstance(self.recurrence_exdates, Unset):
            recurrence_exdates = UNSET
        elif isinstance(self.recurrence_exdates, list):
            recurrence_exdates = self.recurrence_exdates

        else:
            recurrence_exdates = self.recurrence_exdates

        recurrence_rule: None | str | Unset
        if isinstance(self.recurrence_rule, Unset):
            recurrence_rule = UNSET
        else:
            recurrence_rule = self.recurrence_rule

        recurrence_timezone: None | str | Unset
        if isinstance(self.recurrence_timezone, Unset):
            recurrence_timezone = UNSET
        else:
            recurrence_timezone = self.recurrence_timezone

        reminders: list[int] | None | Unset
        if isinstance(self.reminders, Unset):
            reminders = UNSET
        elif isinstance(self.reminders, list):
            reminders = self.reminders

        else:
            reminders = self.reminders

        send_invitations = self.send_invitations

        status: None | str | Unset
        if isinstance(self.status, Unset):
            status = UNSET
        elif isinstance(self.status, SettledStatus):
            status = self.status.value
        else:
            status = self.status

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "end_time": end_time,
                "start_time": start_time,
                "title": title,
            }
        )
        if all_day is not UNSET:
            field_dict["all_day"] = all_day
        if attendees is not UNSET:
            field_dict["attendees"] = attendees
        if conference_url is not UNSET:
            field_dict["conference_url"] = conference_url
        if description is not UNSET:
            field_dict["description"] = description
        if if_free is not UNSET:
            field_dict["if_free"] = if_free
        if location is not UNSET:
            field_dict["location"] = location
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if recurrence_exdates is not UNSET:
            field_dict["recurrence_exdates"] = recurrence_exdates
        if recurrence_rule is not UNSET:
            field_dict["recurrence_rule"] = recurrence_rule
        if recurrence_timezone is not UNSET:
            field_dict["recurrence_timezone"] = recurrence_timezone
        if reminders is not UNSET:
            field_dict["reminders"] = reminders
        if send_invitations is not UNSET:
            field_dict["send_invitations"] = send_invitations
        if status is not UNSET:
            field_dict["status"] = status

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.batched_event_metadata_type_0 import BatchedEventMetadataType0
        from ..models.new_attendee import NewAttendee

        d = dict(src_dict)
        end_time = d.pop("end_time")

        start_time = d.pop("start_time")

        title = d.pop("title")

        all_day = d.pop("all_day", UNSET)

        def _parse_attendees(data: object) -> list[NewAttendee] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                attendees_type_0 = []
                _attendees_type_0 = data
                for attendees_type_0_item_data in _attendees_type_0:
                    attendees_type_0_item = NewAttendee.from_dict(
                        attendees_type_0_item_data
                    )

                    attendees_type_0.append(attendees_type_0_item)

                return attendees_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[NewAttendee] | None | Unset, data)

        attendees = _parse_attendees(d.pop("attendees", UNSET))

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

        if_free = d.pop("if_free", UNSET)

        def _parse_location(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        location = _parse_location(d.pop("location", UNSET))

        def _parse_metadata(data: object) -> BatchedEventMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = BatchedEventMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BatchedEventMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        def _parse_recurrence_exdates(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                recurrence_exdates_type_0 = cast(list[str], data)

                return recurrence_exdates_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        recurrence_exdates = _parse_recurrence_exdates(
            d.pop("recurrence_exdates", UNSET)
        )

        def _parse_recurrence_rule(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recurrence_rule = _parse_recurrence_rule(d.pop("recurrence_rule", UNSET))

        def _parse_recurrence_timezone(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recurrence_timezone = _parse_recurrence_timezone(
            d.pop("recurrence_timezone", UNSET)
        )

        def _parse_reminders(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                reminders_type_0 = cast(list[int], data)

                return reminders_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        reminders = _parse_reminders(d.pop("reminders", UNSET))

        send_invitations = d.pop("send_invitations", UNSET)

        def _parse_status(data: object) -> None | SettledStatus | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_1 = SettledStatus(data)

                return status_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SettledStatus | Unset, data)

        status = _parse_status(d.pop("status", UNSET))

        batched_event = cls(
            end_time=end_time,
            start_time=start_time,
            title=title,
            all_day=all_day,
            attendees=attendees,
            conference_url=conference_url,
            description=description,
            if_free=if_free,
            location=location,
            metadata=metadata,
            recurrence_exdates=recurrence_exdates,
            recurrence_rule=recurrence_rule,
            recurrence_timezone=recurrence_timezone,
            reminders=reminders,
            send_invitations=send_invitations,
            status=status,
        )

        return batched_event
