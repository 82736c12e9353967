from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.attendee_role import AttendeeRole
from ..models.attendee_status import AttendeeStatus
from ..types import UNSET, Unset

T = TypeVar("T", bound="Attendee")


@_attrs_define
class Attendee:
    """An attendee of an event.

    Attributes:
        email (str): The address, in lower case.
        role (AttendeeRole): Whether an attendee has to be there.
        status (AttendeeStatus): An attendee's reply to the invitation.
        agent_id (str | Unset): The agent that the attendee is, or that acts for the attendee, `agt_…`. Absent if there
            is none.
        name (str | Unset): The name. Absent if it is not known.
        responded_at (datetime.datetime | Unset): When the attendee replied. Absent before that.
    """

    email: str
    role: AttendeeRole
    status: AttendeeStatus
    agent_id: str | Unset = UNSET
    name: str | Unset = UNSET
    responded_at: datetime.datetime | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        role = self.role.value

        status = self.status.value

        agent_id = self.agent_id

        name = self.name

        responded_at: str | Unset = UNSET
        if not isinstance(self.responded_at, Unset):
            responded_at = self.responded_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "email": email,
                "role": role,
                "status": status,
            }
        )
        if agent_id is not UNSET:
            field_dict["agent_id"] = agent_id
        if name is not UNSET:
            field_dict["name"] = name
        if responded_at is not UNSET:
            field_dict["responded_at"] = responded_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        email = d.pop("email")

        role = AttendeeRole(d.pop("role"))

        status = AttendeeStatus(d.pop("status"))

        agent_id = d.pop("agent_id", UNSET)

        name = d.pop("name", UNSET)

        _responded_at = d.pop("responded_at", UNSET)
        responded_at: datetime.datetime | Unset
        if isinstance(_responded_at, Unset):
            responded_at = UNSET
        else:
            responded_at = datetime.datetime.fromisoformat(_responded_at)

        attendee = cls(
            email=email,
            role=role,
            status=status,
            agent_id=agent_id,
            name=name,
            responded_at=responded_at,
        )

        attendee.additional_properties = d
        return attendee

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
