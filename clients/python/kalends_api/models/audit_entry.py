from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.audit_action import AuditAction
from ..types import UNSET, Unset

T = TypeVar("T", bound="AuditEntry")


@_attrs_define
class AuditEntry:
    """An entry of the audit log.

    Attributes:
        action (AuditAction):
        created_at (datetime.datetime): When the action was performed.
        duration_ms (int): The time from the request to the commit, in milliseconds.
        id (str): The identifier, `aud_…`.
        method (str): The HTTP method; `CLI` for an operator.
        path (str): The route's template, with placeholders for identifiers.
        request_id (str): The request's identifier, as in its answer.
        resource (str): The identifier of the changed resource.
        status (int): The HTTP status of the answer.
        actor_key_prefix (None | str | Unset): The first characters of the key, or of the user's identifier. Null for an
            operator or a sign-up.
        agent_id (None | str | Unset): The agent concerned.
        ip (None | str | Unset): The caller's IP address. Null for an operator.
    """

    action: AuditAction
    created_at: datetime.datetime
    duration_ms: int
    id: str
    method: str
    path: str
    request_id: str
    resource: str
    status: int
    actor_key_prefix: None | str | Unset = UNSET
    agent_id: None | str | Unset = UNSET
    ip: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        action = self.action.value

        created_at = self.created_at.isoformat()

        duration_ms = self.duration_ms

        id = self.id

        method = self.method

        path = self.path

        request_id = self.request_id

        resource = self.resource

        status = self.status

        actor_key_prefix: None | str | Unset
        if isinstance(self.actor_key_prefix, Unset):
            actor_key_prefix = UNSET
        else:
            actor_key_prefix = self.actor_key_prefix

        agent_id: None | str | Unset
        if isinstance(self.agent_id, Unset):
            agent_id = UNSET
        else:
            agent_id = self.agent_id

        ip: None | str | Unset
        if isinstance(self.ip, Unset):
            ip = UNSET
        else:
            ip = self.ip

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "action": action,
                "created_at": created_at,
                "duration_ms": duration_ms,
                "id": id,
                "method": method,
                "path": path,
                "request_id": request_id,
                "resource": resource,
                "status": status,
            }
        )
        if actor_key_prefix is not UNSET:
            field_dict["actor_key_prefix"] = actor_key_prefix
        if agent_id is not UNSET:
            field_dict["agent_id"] = agent_id
        if ip is not UNSET:
            field_dict["ip"] = ip

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        action = AuditAction(d.pop("action"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        duration_ms = d.pop("duration_ms")

        id = d.pop("id")

        method = d.pop("method")

        path = d.pop("path")

        request_id = d.pop("request_id")

        resource = d.pop("resource")

        status = d.pop("status")

        def _parse_actor_key_prefix(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        actor_key_prefix = _parse_actor_key_prefix(d.pop("actor_key_prefix", UNSET))

        def _parse_agent_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        agent_id = _parse_agent_id(d.pop("agent_id", UNSET))

        def _parse_ip(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        ip = _parse_ip(d.pop("ip", UNSET))

        audit_entry = cls(
            action=action,
            created_at=created_at,
            duration_ms=duration_ms,
            id=id,
            method=method,
            path=path,
            request_id=request_id,
            resource=resource,
            status=status,
            actor_key_prefix=actor_key_prefix,
            agent_id=agent_id,
            ip=ip,
        )

        audit_entry.additional_properties = d
        return audit_entry

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
