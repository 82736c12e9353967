from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateHoldSet")


@_attrs_define
class CreateHoldSet:
    """The fields of a new hold set. Either all of its holds are placed or none.

    Attributes:
        end_time (datetime.datetime): The end, exclusive. RFC 3339 with an offset.
        hold_expires_at (datetime.datetime): When the holds expire: 30 seconds to 15 minutes from now, or up to 7 days
            on a plan with long holds.
        start_time (datetime.datetime): The start. RFC 3339 with an offset.
        title (str): The title of every hold, 1-500 characters. Must not be blank or contain NUL.
        agent_ids (list[str] | Unset): Agents that have exactly one calendar each, without duplicates. Each of them gets
            a hold on its calendar.
        calendar_ids (list[str] | Unset): The calendars, without duplicates: together with `agent_ids` 1-20.
        hold_priority (int | None | Unset): The priority of the holds. Defaults to 0. The holds pre-empt overlapping
            holds of a lower priority.
        if_as_of (None | str | Unset): The `as_of` of an availability answer. It works as in the creation of an event.
    """

    end_time: datetime.datetime
    hold_expires_at: datetime.datetime
    start_time: datetime.datetime
    title: str
    agent_ids: list[str] | Unset = UNSET
    calendar_ids: list[str] | Unset = UNSET
    hold_priority: int | None | Unset = UNSET
    if_as_of: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        end_time = self.end_time.isoformat()

        hold_expires_at = self.hold_expires_at.isoformat()

        start_time = self.start_time.isoformat()

        title = self.title

        agent_ids: list[str] | Unset = UNSET
        if not isinstance(self.agent_ids, Unset):
            agent_ids = self.agent_ids

        calendar_ids: list[str] | Unset = UNSET
        if not isinstance(self.calendar_ids, Unset):
            calendar_ids = self.calendar_ids

        hold_priority: int | None | Unset
        if isinstance(self.hold_priority, Unset):
            hold_priority = UNSET
        else:
            hold_priority = self.hold_priority

        if_as_of: None | str | Unset
        if isinstance(self.if_as_of, Unset):
            if_as_of = UNSET
        else:
            if_as_of = self.if_as_of

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "end_time": end_time,
                "hold_expires_at": hold_expires_at,
                "start_time": start_time,
                "title": title,
            }
        )
        if agent_ids is not UNSET:
            field_dict["agent_ids"] = agent_ids
        if calendar_ids is not UNSET:
            field_dict["calendar_ids"] = calendar_ids
        if hold_priority is not UNSET:
            field_dict["hold_priority"] = hold_priority
        if if_as_of is not UNSET:
            field_dict["if_as_of"] = if_as_of

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end_time = datetime.datetime.fromisoformat(d.pop("end_time"))

        hold_expires_at = datetime.datetime.fromisoformat(d.pop("hold_expires_at"))

        start_time = datetime.datetime.fromisoformat(d.pop("start_time"))

        title = d.pop("title")

        agent_ids = cast(list[str], d.pop("agent_ids", UNSET))

        calendar_ids = cast(list[str], d.pop("calendar_ids", UNSET))

        def _parse_hold_priority(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        hold_priority = _parse_hold_priority(d.pop("hold_priority", UNSET))

        def _parse_if_as_of(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        if_as_of = _parse_if_as_of(d.pop("if_as_of", UNSET))

        create_hold_set = cls(
            end_time=end_time,
            hold_expires_at=hold_expires_at,
            start_time=start_time,
            title=title,
            agent_ids=agent_ids,
            calendar_ids=calendar_ids,
            hold_priority=hold_priority,
            if_as_of=if_as_of,
        )

        return create_hold_set
