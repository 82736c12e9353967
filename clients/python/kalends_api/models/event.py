from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_source import EventSource
from ..models.event_status import EventStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attendee import Attendee
    from ..models.event_metadata import EventMetadata
    from ..models.external_sync import ExternalSync
    from ..models.local import Local
    from ..models.notice import Notice


T = TypeVar("T", bound="Event")


@_attrs_define
class Event:
    """An event.

    Attributes:
        all_day (bool): Whether the event takes whole days.
        calendar_id (str): The calendar, `cal_…`.
        created_at (datetime.datetime): When the event was created.
        end_time (datetime.datetime): The end, exclusive.
        id (str): The identifier, `evt_…`. An instance of a series has `<series>_<start as YYYYMMDDTHHMMSSZ>`.
        metadata (EventMetadata): Your own data.
        org_id (str): The owning organization, `org_…`.
        recurrence_exdates (list[str]): The starts of the cancelled occurrences of a series.
        source (EventSource): The origin of an event.
        start_time (datetime.datetime): The start.
        status (EventStatus): The status of an event.
        title (str): The title, 1-500 characters.
        updated_at (datetime.datetime): When the event was last changed.
        attendees (list[Attendee] | Unset): Who takes part. Absent if there is nobody.
        conference_url (str | Unset): The address of the event's call, an https URL. Absent if it is not set.
        deleted_at (datetime.datetime | None | Unset): When the event was deleted. Null if it was not.
        description (None | str | Unset): A description, as free text.
        external_sync (ExternalSync | None | Unset):
        hold_expires_at (datetime.datetime | None | Unset): When the hold expires or expired. Null if the event is not a
            hold. An expired hold is `cancelled`.
        hold_priority (int | None | Unset): The priority of the hold. Null if the event is not a hold.
        hold_set_id (str | Unset): The hold set with which the event was placed, `hst_…`. Absent on all other events. It
            stays when the hold is
            confirmed or released.
        local (Local | Unset): The time of an event on the wall clock of its calendar's zone.
        location (str | Unset): Where the event takes place, as free text. Absent if it is not set.
        notices (list[Notice] | Unset): What deserves attention although the request succeeded. Only in answers to
            writes, and absent if there is nothing.
        original_start_time (datetime.datetime | Unset): The start that the series' rule gives this instance. Only on
            instances.
        previous_series_id (str | Unset): The series of which this one was a part, until a change of the later
            occurrences split it. Otherwise absent.
        recurrence_rule (None | str | Unset): The recurrence rule of a series. Null on a one-off event and on an
            instance.
        recurrence_timezone (None | str | Unset): The zone of the wall clock that a series follows. Null on a one-off
            event and on an instance.
        recurring_event_id (str | Unset): The series. Only on its instances.
        reminders (list[int] | None | Unset): Reminders, in minutes before the start. Null inherits those of the
            calendar; an empty list means none.
        transparent (bool | Unset): True if the event does not block its time although it takes place
            (`TRANSP:TRANSPARENT` in iCalendar).
            Otherwise absent.
    """

    all_day: bool
    calendar_id: str
    created_at: datetime.datetime
    end_time: datetime.datetime
    id: str
    metadata: EventMetadata
    org_id: str
    recurrence_exdates: list[str]
    source: EventSource
    start_time: datetime.datetime
    status: EventStatus
    title: str
    updated_at: datetime.datetime
    attendees: list[Attendee] | Unset = UNSET
    conference_url: str | Unset = UNSET
    deleted_at: datetime.datetime | None | Unset = UNSET
    description: None | str | Unset = UNSET
    external_sync: ExternalSync | None | Unset = UNSET
    hold_expires_at: datetime.datetime | None | Unset = UNSET
    hold_priority: int | None | Unset = UNSET
    hold_set_id: str | Unset = UNSET
    local: Local | Unset = UNSET
    location: str | Unset = UNSET
    notices: list[Notice] | Unset = UNSET
    original_start_time: datetime.datetime | Unset = UNSET
    previous_series_id: str | Unset = UNSET
    recurrence_rule: None | str | Unset = UNSET
    recurrence_timezone: None | str | Unset = UNSET
    recurring_event_id: str | Unset = UNSET
    reminders: list[int] | None | Unset = UNSET
    transparent: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.external_sync import ExternalSync

        all_day = self.all_day

        calendar_id = self.calendar_id

        created_at = self.created_at.isoformat()

        end_time = self.end_time.isoformat()

        id = self.id

        metadata = self.metadata.to_dict()

        org_id = self.org_id

        recurrence_exdates = self.recurrence_exdates

        source = self.source.value

        start_time = self.start_time.isoformat()

        status = self.status.value

        title = self.title

        updated_at = self.updated_at.isoformat()

        attendees: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.attendees, Unset):
            attendees = []
            for attendees_item_data in self.attendees:
                attendees_item = attendees_item_data.to_dict()
                attendees.append(attendees_item)

        conference_url = self.conference_url

        deleted_at: None | str | Unset
        if isinstance(self.deleted_at, Unset):
            deleted_at = UNSET
        elif isinstance(self.deleted_at, datetime.datetime):
            deleted_at = self.deleted_at.isoformat()
        else:
            deleted_at = self.deleted_at

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        external_sync: dict[str, Any] | None | Unset
        if isinstance(self.external_sync, Unset):
            external_sync = UNSET
        elif isinstance(self.external_sync, ExternalSync):
            external_sync = self.external_sync.to_dict()
        else:
            external_sync = self.external_sync

        hold_expires_at: None | str | Unset
        if isinstance(self.hold_expires_at, Unset):
            hold_expires_at = UNSET
        elif isinstance(self.hold_expires_at, datetime.datetime):
            hold_expires_at = self.hold_expires_at.isoformat()
        else:
            hold_expires_at = self.hold_expires_at

        hold_priority: int | None | Unset
        if isinstance(self.hold_priority, Unset):
            hold_priority = UNSET
        else:
            hold_priority = self.hold_priority

        hold_set_id = self.hold_set_id

        local: dict[str, Any] | Unset = UNSET
        if not isinstance(self.local, Unset):
            local = self.local.to_dict()

        location = self.location

        notices: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.notices, Unset):
            notices = []
            for notices_item_data in self.notices:
                notices_item = notices_item_data.to_dict()
                notices.append(notices_item)

        original_start_time: str | Unset = UNSET
        if not isinstance(self.original_start_time, Unset):
            original_start_time = self.original_start_time.isoformat()

        previous_series_id = self.previous_series_id

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

        recurring_event_id = self.recurring_event_id

        reminders: list[int] | None | Unset
        if isinstance(self.reminders, Unset):
            reminders = UNSET
        elif isinstance(self.reminders, list):
            reminders = self.reminders

        else:
            reminders = self.reminders

        transparent = self.transparent

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "allDay": all_day,
                "calendarId": calendar_id,
                "createdAt": created_at,
                "endTime": end_time,
                "id": id,
                "metadata": metadata,
                "orgId": org_id,
                "recurrenceExdates": recurrence_exdates,
                "source": source,
                "startTime": start_time,
                "status": status,
                "title": title,
                "updatedAt": updated_at,
            }
        )
        if attendees is not UNSET:
            field_dict["attendees"] = attendees
        if conference_url is not UNSET:
            field_dict["conferenceUrl"] = conference_url
        if deleted_at is not UNSET:
            field_dict["deletedAt"] = deleted_at
        if description is not UNSET:
            field_dict["description"] = description
        if external_sync is not UNSET:
            field_dict["external_sync"] = external_sync
        if hold_expires_at is not UNSET:
            field_dict["holdExpiresAt"] = hold_expires_at
        if hold_priority is not UNSET:
            field_dict["holdPriority"] = hold_priority
        if hold_set_id is not UNSET:
            field_dict["holdSetId"] = hold_set_id
        if local is not UNSET:
            field_dict["local"] = local
        if location is not UNSET:
            field_dict["location"] = location
        if notices is not UNSET:
            field_dict["notices"] = notices
        if original_start_time is not UNSET:
            field_dict["originalStartTime"] = original_start_time
        if previous_series_id is not UNSET:
            field_dict["previousSeriesId"] = previous_series_id
        if recurrence_rule is not UNSET:
            field_dict["recurrenceRule"] = recurrence_rule
        if recurrence_timezone is not UNSET:
            field_dict["recurrenceTimezone"] = recurrence_timezone
        if recurring_event_id is not UNSET:
            field_dict["recurringEventId"] = recurring_event_id
        if reminders is not UNSET:
            field_dict["reminders"] = reminders
        if transparent is not UNSET:
            field_dict["transparent"] = transparent

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attendee import Attendee
        from ..models.event_metadata import EventMetadata
        from ..models.external_sync import ExternalSync
        from ..models.local import Local
        from ..models.notice import Notice

        d = dict(src_dict)
        all_day = d.pop("allDay")

        calendar_id = d.pop("calendarId")

        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        end_time = datetime.datetime.fromisoformat(d.pop("endTime"))

        id = d.pop("id")

        metadata = EventMetadata.from_dict(d.pop("metadata"))

        org_id = d.pop("orgId")

        recurrence_exdates = cast(list[str], d.pop("recurrenceExdates"))

        source = EventSource(d.pop("source"))

        start_time = datetime.datetime.fromisoformat(d.pop("startTime"))

        status = EventStatus(d.pop("status"))

        title = d.pop("title")

        updated_at = datetime.datetime.fromisoformat(d.pop("updatedAt"))

        _attendees = d.pop("attendees", UNSET)
        attendees: list[Attendee] | Unset = UNSET
        if _attendees is not UNSET:
            attendees = []
            for attendees_item_data in _attendees:
                attendees_item = Attendee.from_dict(attendees_item_data)

                attendees.append(attendees_item)

        conference_url = d.pop("conferenceUrl", UNSET)

        def _parse_deleted_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                deleted_at_type_0 = datetime.datetime.fromisoformat(data)

                return deleted_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        deleted_at = _parse_deleted_at(d.pop("deletedAt", UNSET))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_external_sync(data: object) -> ExternalSync | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                external_sync_type_0 = ExternalSync.from_dict(data)

                return external_sync_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ExternalSync | None | Unset, data)

        external_sync = _parse_external_sync(d.pop("external_sync", UNSET))

        def _parse_hold_expires_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                hold_expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return hold_expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        hold_expires_at = _parse_hold_expires_at(d.pop("holdExpiresAt", UNSET))

        def _parse_hold_priority(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        hold_priority = _parse_hold_priority(d.pop("holdPriority", UNSET))

        hold_set_id = d.pop("holdSetId", UNSET)

        _local = d.pop("local", UNSET)
        local: Local | Unset
        if isinstance(_local, Unset):
            local = UNSET
        else:
            local = Local.from_dict(_local)

        location = d.pop("location", UNSET)

        _notices = d.pop("notices", UNSET)
        notices: list[Notice] | Unset = UNSET
        if _notices is not UNSET:
            notices = []
            for notices_item_data in _notices:
                notices_item = Notice.from_dict(notices_item_data)

                notices.append(notices_item)

        _original_start_time = d.pop("originalStartTime", UNSET)
        original_start_time: datetime.datetime | Unset
        if isinstance(_original_start_time, Unset):
            original_start_time = UNSET
        else:
            original_start_time = datetime.datetime.fromisoformat(_original_start_time)

        previous_series_id = d.pop("previousSeriesId", UNSET)

        def _parse_recurrence_rule(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recurrence_rule = _parse_recurrence_rule(d.pop("recurrenceRule", UNSET))

        def _parse_recurrence_timezone(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recurrence_timezone = _parse_recurrence_timezone(
            d.pop("recurrenceTimezone", UNSET)
        )

        recurring_event_id = d.pop("recurringEventId", UNSET)

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

        transparent = d.pop("transparent", UNSET)

        event = cls(
            all_day=all_day,
            calendar_id=calendar_id,
            created_at=created_at,
            end_time=end_time,
            id=id,
            metadata=metadata,
            org_id=org_id,
            recurrence_exdates=recurrence_exdates,
            source=source,
            start_time=start_time,
            status=status,
            title=title,
            updated_at=updated_at,
            attendees=attendees,
            conference_url=conference_url,
            deleted_at=deleted_at,
            description=description,
            external_sync=external_sync,
            hold_expires_at=hold_expires_at,
            hold_priority=hold_priority,
            hold_set_id=hold_set_id,
            local=local,
            location=location,
            notices=notices,
            original_start_time=original_start_time,
            previous_series_id=previous_series_id,
            recurrence_rule=recurrence_rule,
            recurrence_timezone=recurrence_timezone,
            recurring_event_id=recurring_event_id,
            reminders=reminders,
            transparent=transparent,
        )

        event.additional_properties = d
        return event

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
