from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.settled_status import SettledStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.new_attendee import NewAttendee
    from ..models.update_event_metadata import UpdateEventMetadata


T = TypeVar("T", bound="UpdateEvent")


@_attrs_define
class UpdateEvent:
    """The fields of an event that a PATCH can change. At least one is required.

    Attributes:
        all_day (bool | Unset): Whether the event takes whole days.
        attendees (list[NewAttendee] | None | Unset): Replaces the attendees. Those who stay keep their reply. Null or
            an empty list removes all.
        conference_url (None | str | Unset): A new address of the call, an https URL. Null clears it.
        description (None | str | Unset): A new description. Null clears it.
        end_time (str | Unset): A new end, exclusive. RFC 3339 with an offset, or a plain date with `all_day`. Without
            `start_time`, it
            changes the length.
        hold_expires_at (datetime.datetime | Unset): A new expiry of a live hold: 30 seconds to 15 minutes from now, or
            up to 7 days on a plan with long holds.
        if_as_of (None | str | Unset): The `as_of` of the availability answer on which the change is based. It works as
            in the creation of an event, for
            the time that the event has after the change.
        if_free (bool | Unset): Whether to change the event only if nothing else blocks its time. If something does, the
            answer is 409
            `slot_taken`. For a series, this is about its occurrences within a year.
        location (None | str | Unset): A new location. Null clears it.
        metadata (UpdateEventMetadata | Unset): Replaces the metadata as a whole.
        recurrence_exdates (list[str] | None | Unset): Replaces the cancelled occurrences. Null clears them.
        recurrence_rule (None | str | Unset): A new recurrence rule. Null makes the series a one-off event. Cancelled
            and changed occurrences stay as they
            are if the new rule still contains them. Otherwise they are dropped.
        recurrence_timezone (None | str | Unset): A new zone. Null means the zone of a new series that names none: the
            `recurrence_default` of the calendar
            decides.
        reminders (list[int] | None | Unset): Up to 5 reminders. Null inherits those of the calendar.
        send_invitations (bool | Unset): Whether to mail the attendees the event as it is after the change. Those who
            were removed, and all if the event is
            cancelled, get a cancellation instead. Alone, it sends the invitations and changes nothing else. Not for a hold.
        start_time (str | Unset): A new start. RFC 3339 with an offset, or a plain date with `all_day`. Without
            `end_time`, the event moves and
            keeps its length; an all-day event keeps its number of days.
        status (SettledStatus | Unset):
        title (str | Unset): A new title, 1-500 characters. Must not be blank or contain NUL.
    """

    all_day: bool | Unset = UNSET
    attendees: list[NewAttendee] | None | Unset = UNSET
    conference_url: None | str | Unset = UNSET
    description: None | str | Unset = UNSET
    end_time: str | Unset = UNSET
    hold_expires_at: datetime.datetime | Unset = UNSET
    if_as_of: None | str | Unset = UNSET
    if_free: bool | Unset = UNSET
    location: None | str | Unset = UNSET
    metadata: UpdateEventMetadata | Unset = UNSET
    recurrence_exdates: list[str] | None | Unset = UNSET
    recurrence_rule: None | str | Unset = UNSET
    recurrence_timezone: None | str | Unset = UNSET
    reminders: list[int] | None | Unset = UNSET
    send_invitations: bool | Unset = UNSET
    start_time: str | Unset = UNSET
    status: SettledStatus | Unset = UNSET
    title: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
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

        end_time = self.end_time

        hold_expires_at: str | Unset = UNSET
        if not isinstance(self.hold_expires_at, Unset):
            hold_expires_at = self.hold_expires_at.isoformat()

        if_as_of: None | str | Unset
        if isinstance(self.if_as_of, Unset):
            if_as_of = UNSET
        else:
            if_as_of = self.if_as_of

        if_free = self.if_free

        location: None | str | Unset
        if isinstance(self.location, Unset):
            location = UNSET
        else:
            location = self.location

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

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

        start_time = self.start_time

        status: str | Unset = UNSET
        if not isinstance(self.status, Unset):
            status = self.status.value

        title = self.title

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if all_day is not UNSET:
            field_dict["all_day"] = all_day
        if attendees is not UNSET:
            field_dict["attendees"] = attendees
        if conference_url is not UNSET:
            field_dict["conference_url"] = conference_url
        if description is not UNSET:
            field_dict["description"] = description
        if end_time is not UNSET:
            field_dict["end_time"] = end_time
        if hold_expires_at is not UNSET:
            field_dict["hold_expires_at"] = hold_expires_at
        if if_as_of is not UNSET:
            field_dict["if_as_of"] = if_as_of
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
        if start_time is not UNSET:
            field_dict["start_time"] = start_time
        if status is not UNSET:
            field_dict["status"] = status
        if title is not UNSET:
            field_dict["title"] = title

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.new_attendee import NewAttendee
        from ..models.update_event_metadata import UpdateEventMetadata

        d = dict(src_dict)
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

        end_time = d.pop("end_time", UNSET)

        _hold_expires_at = d.pop("hold_expires_at", UNSET)
        hold_expires_at: datetime.datetime | Unset
        if isinstance(_hold_expires_at, Unset):
            hold_expires_at = UNSET
        else:
            hold_expires_at = datetime.datetime.fromisoformat(_hold_expires_at)

        def _parse_if_as_of(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        if_as_of = _parse_if_as_of(d.pop("if_as_of", UNSET))

        if_free = d.pop("if_free", UNSET)

        def _parse_location(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        location = _parse_location(d.pop("location", UNSET))

        _metadata = d.pop("metadata", UNSET)
        metadata: UpdateEventMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = UpdateEventMetadata.from_dict(_metadata)

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

        start_time = d.pop("start_time", UNSET)

        _status = d.pop("status", UNSET)
        status: SettledStatus | Unset
        if isinstance(_status, Unset):
            status = UNSET
        else:
            status = SettledStatus(_status)

        title = d.pop("title", UNSET)

        update_event = cls(
            all_day=all_day,
            attendees=attendees,
            conference_url=conference_url,
            description=description,
            end_time=end_time,
            hold_expires_at=hold_expires_at,
            if_as_of=if_as_of,
            if_free=if_free,
            location=location,
            metadata=metadata,
            recurrence_exdates=recurrence_exdates,
            recurrence_rule=recurrence_rule,
            recurrence_timezone=recurrence_timezone,
            reminders=reminders,
            send_invitations=send_invitations,
            start_time=start_time,
            status=status,
            title=title,
        )

        return update_event
