from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.attendee_role import AttendeeRole
from ..types import UNSET, Unset

T = TypeVar("T", bound="NewAttendee")


@_attrs_define
class NewAttendee:
    """An attendee of an event, as a request names it.

    Attributes:
        email (str): The address, which differs from those of the other attendees.
        agent_id (None | str | Unset): The agent of your organization that the attendee is, or that acts for the
            attendee, `agt_…`.
        name (None | str | Unset): A name on one line, 1-200 characters. Must not be blank or contain NUL.
        role (AttendeeRole | None | Unset):
    """

    email: str
    agent_id: None | str | Unset = UNSET
    name: None | str | Unset = UNSET
    role: AttendeeRole | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        agent_id: None | str | Unset
        if isinstance(self.agent_id, Unset):
            agent_id = UNSET
        else:
            agent_id = self.agent_id

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        role: None | str | Unset
        if isinstance(self.role, Unset):
            role = UNSET
        elif isinstance(self.role, AttendeeRole):
            role = self.role.value
        else:
            role = self.role

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
            }
        )
        if agent_id is not UNSET:
            field_dict["agent_id"] = agent_id
        if name is not UNSET:
            field_dict["name"] = name
        if role is not UNSET:
            field_dict["role"] = role

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        email = d.pop("email")

        def _parse_agent_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        agent_id = _parse_agent_id(d.pop("agent_id", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_role(data: object) -> AttendeeRole | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                role_type_0 = AttendeeRole(data)

                return role_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AttendeeRole | None | Unset, data)

        role = _parse_role(d.pop("role", UNSET))

        new_attendee = cls(
            email=email,
            agent_id=agent_id,
            name=name,
            role=role,
        )

        return new_attendee
