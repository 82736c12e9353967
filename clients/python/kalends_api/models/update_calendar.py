from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.agent_activity import AgentActivity
from ..models.conflicts import Conflicts
from ..models.recurrence_default import RecurrenceDefault
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.update_calendar_metadata import UpdateCalendarMetadata


T = TypeVar("T", bound="UpdateCalendar")


@_attrs_define
class UpdateCalendar:
    """The fields of a calendar that a PATCH can change. At least one is required.

    Attributes:
        agent_status (AgentActivity | Unset): What the agent of a calendar is doing.
        conflicts (Conflicts | Unset): Whether events on a calendar may overlap.
        default_reminders (list[int] | None | Unset): Up to 5 default reminders. Null restores the default: one
            reminder, 10 minutes before the start.
        metadata (UpdateCalendarMetadata | Unset): Replaces the metadata as a whole.
        name (str | Unset): A new name, 1-255 characters. Must not be blank or contain NUL.
        recurrence_default (None | RecurrenceDefault | Unset):
        timezone (str | Unset): An IANA time zone.
    """

    agent_status: AgentActivity | Unset = UNSET
    conflicts: Conflicts | Unset = UNSET
    default_reminders: list[int] | None | Unset = UNSET
    metadata: UpdateCalendarMetadata | Unset = UNSET
    name: str | Unset = UNSET
    recurrence_default: None | RecurrenceDefault | Unset = UNSET
    timezone: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        agent_status: str | Unset = UNSET
        if not isinstance(self.agent_status, Unset):
            agent_status = self.agent_status.value

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

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        name = self.name

        recurrence_default: None | str | Unset
        if isinstance(self.recurrence_default, Unset):
            recurrence_default = UNSET
        elif isinstance(self.recurrence_default, RecurrenceDefault):
            recurrence_default = self.recurrence_default.value
        else:
            recurrence_default = self.recurrence_default

        timezone = self.timezone

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if agent_status is not UNSET:
            field_dict["agent_status"] = agent_status
        if conflicts is not UNSET:
            field_dict["conflicts"] = conflicts
        if default_reminders is not UNSET:
            field_dict["default_reminders"] = default_reminders
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if name is not UNSET:
            field_dict["name"] = name
        if recurrence_default is not UNSET:
            field_dict["recurrence_default"] = recurrence_default
        if timezone is not UNSET:
            field_dict["timezone"] = timezone

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.update_calendar_metadata import UpdateCalendarMetadata

        d = dict(src_dict)
        _agent_status = d.pop("agent_status", UNSET)
        agent_status: AgentActivity | Unset
        if isinstance(_agent_status, Unset):
            agent_status = UNSET
        else:
            agent_status = AgentActivity(_agent_status)

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

        _metadata = d.pop("metadata", UNSET)
        metadata: UpdateCalendarMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = UpdateCalendarMetadata.from_dict(_metadata)

        name = d.pop("name", UNSET)

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

        timezone = d.pop("timezone", UNSET)

        update_calendar = cls(
            agent_status=agent_status,
            conflicts=conflicts,
            default_reminders=default_reminders,
            metadata=metadata,
            name=name,
            recurrence_default=recurrence_default,
            timezone=timezone,
        )

        return update_calendar
