from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.agent_activity import AgentActivity
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.event import Event


T = TypeVar("T", bound="CalendarContext")


@_attrs_define
class CalendarContext:
    """What an agent needs to know about its calendar right now. Cancelled events are left out.

    Attributes:
        agent_status (AgentActivity): What the agent of a calendar is doing.
        calendar_id (str): The calendar, `cal_…`.
        now (datetime.datetime): The server's current time.
        recent_events (list[Event]): Up to 3 events that ended most recently, newest first.
        upcoming (list[Event]): Up to 5 events that start within 24 hours, earliest first.
        current_event (Event | None | Unset):
        next_event (Event | None | Unset):
    """

    agent_status: AgentActivity
    calendar_id: str
    now: datetime.datetime
    recent_events: list[Event]
    upcoming: list[Event]
    current_event: Event | None | Unset = UNSET
    next_event: Event | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.event import Event

        agent_status = self.agent_status.value

        calendar_id = self.calendar_id

        now = self.now.isoformat()

        recent_events = []
        for recent_events_item_data in self.recent_events:
            recent_events_item = recent_events_item_data.to_dict()
            recent_events.append(recent_events_item)

        upcoming = []
        for upcoming_item_data in self.upcoming:
            upcoming_item = upcoming_item_data.to_dict()
            upcoming.append(upcoming_item)

        current_event: dict[str, Any] | None | Unset
        if isinstance(self.current_event, Unset):
            current_event = UNSET
        elif isinstance(self.current_event, Event):
            current_event = self.current_event.to_dict()
        else:
            current_event = self.current_event

        next_event: dict[str, Any] | None | Unset
        if isinstance(self.next_event, Unset):
            next_event = UNSET
        elif isinstance(self.next_event, Event):
            next_event = self.next_event.to_dict()
        else:
            next_event = self.next_event

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent_status": agent_status,
                "calendar_id": calendar_id,
                "now": now,
                "recent_events": recent_events,
                "upcoming": upcoming,
            }
        )
        if current_event is not UNSET:
            field_dict["current_event"] = current_event
        if next_event is not UNSET:
            field_dict["next_event"] = next_event

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.event import Event

        d = dict(src_dict)
        agent_status = AgentActivity(d.pop("agent_status"))

        calendar_id = d.pop("calendar_id")

        now = datetime.datetime.fromisoformat(d.pop("now"))

        recent_events = []
        _recent_events = d.pop("recent_events")
        for recent_events_item_data in _recent_events:
            recent_events_item = Event.from_dict(recent_events_item_data)

            recent_events.append(recent_events_item)

        upcoming = []
        _upcoming = d.pop("upcoming")
        for upcoming_item_data in _upcoming:
            upcoming_item = Event.from_dict(upcoming_item_data)

            upcoming.append(upcoming_item)

        def _parse_current_event(data: object) -> Event | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                current_event_type_0 = Event.from_dict(data)

                return current_event_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Event | None | Unset, data)

        current_event = _parse_current_event(d.pop("current_event", UNSET))

        def _parse_next_event(data: object) -> Event | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                next_event_type_0 = Event.from_dict(data)

                return next_event_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Event | None | Unset, data)

        next_event = _parse_next_event(d.pop("next_event", UNSET))

        calendar_context = cls(
            agent_status=agent_status,
            calendar_id=calendar_id,
            now=now,
            recent_events=recent_events,
            upcoming=upcoming,
            current_event=current_event,
            next_event=next_event,
        )

        calendar_context.additional_properties = d
        return calendar_context

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
