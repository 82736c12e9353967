from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.agent_activity import AgentActivity
from ..models.conflicts import Conflicts
from ..models.provider import Provider
from ..models.recurrence_default import RecurrenceDefault
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.calendar_metadata import CalendarMetadata


T = TypeVar("T", bound="Calendar")


@_attrs_define
class Calendar:
    """A calendar.

    Attributes:
        agent_status (AgentActivity): What the agent of a calendar is doing.
        created_at (datetime.datetime): When the calendar was created.
        ical_url (str): The address of the calendar's public feed.
        id (str): The identifier, `cal_…`.
        metadata (CalendarMetadata): Your own data.
        name (str): The name, 1-255 characters.
        org_id (str): The owning organization, `org_…`.
        timezone (str): The IANA time zone.
        updated_at (datetime.datetime): When the calendar was last changed.
        agent_id (None | str | Unset): The owning agent. Null for a calendar that the organization shares.
        conflicts (Conflicts | Unset): Whether events on a calendar may overlap.
        default_reminders (list[int] | None | Unset): The reminders that events inherit, in minutes before the start.
            Null means one reminder, 10 minutes before the
            start; an empty list means none.
        deleted_at (datetime.datetime | None | Unset): When the calendar was deleted. Null if it was not.
        external_id (None | str | Unset): The provider's identifier of a bridged calendar. Otherwise null.
        provider (None | Provider | Unset):
        recurrence_default (RecurrenceDefault | Unset): The zone that a series follows if its request names none.
    """

    agent_status: AgentActivity
    created_at: datetime.datetime
    ical_url: str
    id: str
    metadata: CalendarMetadata
    name: str
    org_id: str
    timezone: str
    updated_at: datetime.datetime
    agent_id: None | str | Unset = UNSET
    conflicts: Conflicts | Unset = UNSET
    default_reminders: list[int] | None | Unset = UNSET
    deleted_at: datetime.datetime | None | Unset = UNSET
    external_id: None | str | Unset = UNSET
    provider: None | Provider | Unset = UNSET
    recurrence_default: RecurrenceDefault | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agent_status = self.agent_status.value

        created_at = self.created_at.isoformat()

        ical_url = self.ical_url

        id = self.id

        metadata = self.metadata.to_dict()

        name = self.name

        org_id = self.org_id

        timezone = self.timezone

        updated_at = self.updated_at.isoformat()

        agent_id: None | str | Unset
        if isinstance(self.agent_id, Unset):
            agent_id = UNSET
        else:
            agent_id = self.agent_id

        conflicts: str | Unset = UNSET
        if not isinstance(self.conflicts, Unset):
            conflicts = self.conflicts.value

        default_reminders: list[int] | None | Unset
        if isinstance(self.default_reminders, Unset):
            default_reminders = UNSET
        elif isinstance(self.default_reminders, list):
            default_reminders = self.default_reminders

        else:
            default_reminders = self.default_reminders

        deleted_at: None | str | Unset
        if isinstance(self.deleted_at, Unset):
            deleted_at = UNSET
        elif isinstance(self.deleted_at, datetime.datetime):
            deleted_at = self.deleted_at.isoformat()
        else:
            deleted_at = self.deleted_at

        external_id: None | str | Unset
        if isinstance(self.external_id, Unset):
            external_id = UNSET
        else:
            external_id = self.external_id

        provider: None | str | Unset
        if isinstance(self.provider, Unset):
            provider = UNSET
        elif isinstance(self.provider, Provider):
            provider = self.provider.value
        else:
            provider = self.provider

        recurrence_default: str | Unset = UNSET
        if not isinstance(self.recurrence_default, Unset):
            recurrence_default = self.recurrence_default.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent_status": agent_status,
                "createdAt": created_at,
                "ical_url": ical_url,
                "id": id,
                "metadata": metadata,
                "name": name,
                "orgId": org_id,
                "timezone": timezone,
                "updatedAt": updated_at,
            }
        )
        if agent_id is not UNSET:
            field_dict["agentId"] = agent_id
        if conflicts is not UNSET:
            field_dict["conflicts"] = conflicts
        if default_reminders is not UNSET:
            field_dict["default_reminders"] = default_reminders
        if deleted_at is not UNSET:
            field_dict["deletedAt"] = deleted_at
        if external_id is not UNSET:
            field_dict["externalId"] = external_id
        if provider is not UNSET:
            field_dict["provider"] = provider
        if recurrence_default is not UNSET:
            field_dict["recurrence_default"] = recurrence_default

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.calendar_metadata import CalendarMetadata

        d = dict(src_dict)
        agent_status = AgentActivity(d.pop("agent_status"))

        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        ical_url = d.pop("ical_url")

        id = d.pop("id")

        metadata = CalendarMetadata.from_dict(d.pop("metadata"))

        name = d.pop("name")

        org_id = d.pop("orgId")

        timezone = d.pop("timezone")

        updated_at = datetime.datetime.fromisoformat(d.pop("updatedAt"))

        def _parse_agent_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        agent_id = _parse_agent_id(d.pop("agentId", UNSET))

        _conflicts = d.pop("conflicts", UNSET)
        conflicts: Conflicts | Unset
        if isinstance(_conflicts, Unset):
            conflicts = UNSET
        else:
            conflicts = Conflicts(_conflicts)

        def _parse_default_reminders(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                default_reminders_type_0 = cast(list[int], data)

                return default_reminders_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        default_reminders = _parse_default_reminders(d.pop("default_reminders", UNSET))

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

        def _parse_external_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        external_id = _parse_external_id(d.pop("externalId", UNSET))

        def _parse_provider(data: object) -> None | Provider | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                provider_type_0 = Provider(data)

                return provider_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Provider | Unset, data)

        provider = _parse_provider(d.pop("provider", UNSET))

        _recurrence_default = d.pop("recurrence_default", UNSET)
        recurrence_default: RecurrenceDefault | Unset
        if isinstance(_recurrence_default, Unset):
            recurrence_default = UNSET
        else:
            recurrence_default = RecurrenceDefault(_recurrence_default)

        calendar = cls(
            agent_status=agent_status,
            created_at=created_at,
            ical_url=ical_url,
            id=id,
            metadata=metadata,
            name=name,
            org_id=org_id,
            timezone=timezone,
            updated_at=updated_at,
            agent_id=agent_id,
            conflicts=conflicts,
            default_reminders=default_reminders,
            deleted_at=deleted_at,
            external_id=external_id,
            provider=provider,
            recurrence_default=recurrence_default,
        )

        calendar.additional_properties = d
        return calendar

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
