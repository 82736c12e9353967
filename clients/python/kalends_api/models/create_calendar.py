from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.agent_activity import AgentActivity
from ..models.conflicts import Conflicts
from ..models.recurrence_default import RecurrenceDefault
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.create_calendar_metadata_type_0 import CreateCalendarMetadataType0


T = TypeVar("T", bound="CreateCalendar")


@_attrs_define
class CreateCalendar:
    """The fields of a new calendar.

    Attributes:
        name (str): A name, 1-255 characters. Must not be blank or contain NUL.
        timezone (str): An IANA time zone, such as `Europe/Berlin`.
        agent_status (AgentActivity | None | Unset):
        conflicts (Conflicts | None | Unset):
        default_reminders (list[int] | None | Unset): Up to 5 default reminders, each 1-40320 minutes before the start.
        metadata (CreateCalendarMetadataType0 | None | Unset): Your own data: an object of at most 16,384 bytes.
        recurrence_default (None | RecurrenceDefault | Unset):
    """

    name: str
    timezone: str
    agent_status: AgentActivity | None | Unset = UNSET
    conflicts: Conflicts | None | Unset = UNSET
    default_reminders: list[int] | None | Unset = UNSET
    metadata: CreateCalendarMetadataType0 | None | Unset = UNSET
    recurrence_default: None | RecurrenceDefault | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.create_calendar_metadata_type_0 import CreateCalendarMetadataType0

        name = self.name

        timezone = self.timezone

        agent_status: None | str | Unset
        if isinstance(self.agent_status, Unset):
            agent_status = UNSET
        elif isinstance(self.agent_status, AgentActivity):
            agent_status = self.agent_status.value
        else:
            agent_status = self.agent_status

        conflicts: None | str | Unset
        if isinstance(self.conflicts, Unset):
            conflicts = UNSET
        elif isinstance(self.conflicts, Conflicts):
            conflicts = self.conflicts.value
        else:
            conflicts = self.conflicts

        default_reminders: list[int] | None | Unset
        if isinstance(self.default_reminders, Unset):
            default_reminders = UNSET
        elif isinstance(self.default_reminders, list):
            default_reminders = self.default_reminders

        else:
            default_reminders = self.default_reminders

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateCalendarMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        recurrence_default: None | str | Unset
        if isinstance(self.recurrence_default, Unset):
            recurrence_default = UNSET
        elif isinstance(self.recurrence_default, RecurrenceDefault):
            recurrence_default = self.recurrence_default.value
        else:
            recurrence_default = self.recurrence_default

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "timezone": timezone,
            }
        )
        if agent_status is not UNSET:
            field_dict["agent_status"] = agent_status
        if conflicts is not UNSET:
            field_dict["conflicts"] = conflicts
        if default_reminders is not UNSET:
            field_dict["default_reminders"] = default_reminders
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if recurrence_default is not UNSET:
            field_dict["recurrence_default"] = recurrence_default

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.create_calendar_metadata_type_0 import CreateCalendarMetadataType0

        d = dict(src_dict)
        name = d.pop("name")

        timezone = d.pop("timezone")

        def _parse_agent_status(data: object) -> AgentActivity | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                agent_status_type_0 = AgentActivity(data)

                return agent_status_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AgentActivity | None | Unset, data)

        agent_status = _parse_agent_status(d.pop("agent_status", UNSET))

        def _parse_conflicts(data: object) -> Conflicts | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                conflicts_type_0 = Conflicts(data)

                return conflicts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Conflicts | None | Unset, data)

        conflicts = _parse_conflicts(d.pop("conflicts", UNSET))

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

        def _parse_metadata(data: object) -> CreateCalendarMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateCalendarMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateCalendarMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        def _parse_recurrence_default(data: object) -> None | RecurrenceDefault | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                recurrence_default_type_0 = RecurrenceDefault(data)

                return recurrence_default_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RecurrenceDefault | Unset, data)

        recurrence_default = _parse_recurrence_default(
            d.pop("recurrence_default", UNSET)
        )

        create_calendar = cls(
            name=name,
            timezone=timezone,
            agent_status=agent_status,
            conflicts=conflicts,
            default_reminders=default_reminders,
            metadata=metadata,
            recurrence_default=recurrence_default,
        )

        return create_calendar
