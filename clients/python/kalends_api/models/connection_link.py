from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.capability_name import CapabilityName
from ..models.connection_link_status import ConnectionLinkStatus
from ..models.policy_name import PolicyName
from ..types import UNSET, Unset

T = TypeVar("T", bound="ConnectionLink")


@_attrs_define
class ConnectionLink:
    """A connection link.

    Attributes:
        calendar_id (str): The calendar to which a human calendar is to be connected.
        capabilities (list[CapabilityName]): The access that the link asks for: `availability`, possibly with
            `publishing`.
        expires_at (datetime.datetime): When the link expires if it is not completed: 15 minutes after its creation, or
            30 minutes after a user opened
            it.
        id (str): The identifier, `cln_…`.
        publication_policy (PolicyName):
        status (ConnectionLinkStatus):
        connection_id (None | str | Unset): The connection that the user made, `con_…`. Null before that.
    """

    calendar_id: str
    capabilities: list[CapabilityName]
    expires_at: datetime.datetime
    id: str
    publication_policy: PolicyName
    status: ConnectionLinkStatus
    connection_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        calendar_id = self.calendar_id

        capabilities = []
        for capabilities_item_data in self.capabilities:
            capabilities_item = capabilities_item_data.value
            capabilities.append(capabilities_item)

        expires_at = self.expires_at.isoformat()

        id = self.id

        publication_policy = self.publication_policy.value

        status = self.status.value

        connection_id: None | str | Unset
        if isinstance(self.connection_id, Unset):
            connection_id = UNSET
        else:
            connection_id = self.connection_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "calendar_id": calendar_id,
                "capabilities": capabilities,
                "expires_at": expires_at,
                "id": id,
                "publication_policy": publication_policy,
                "status": status,
            }
        )
        if connection_id is not UNSET:
            field_dict["connection_id"] = connection_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        calendar_id = d.pop("calendar_id")

        capabilities = []
        _capabilities = d.pop("capabilities")
        for capabilities_item_data in _capabilities:
            capabilities_item = CapabilityName(capabilities_item_data)

            capabilities.append(capabilities_item)

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        id = d.pop("id")

        publication_policy = PolicyName(d.pop("publication_policy"))

        status = ConnectionLinkStatus(d.pop("status"))

        def _parse_connection_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        connection_id = _parse_connection_id(d.pop("connection_id", UNSET))

        connection_link = cls(
            calendar_id=calendar_id,
            capabilities=capabilities,
            expires_at=expires_at,
            id=id,
            publication_policy=publication_policy,
            status=status,
            connection_id=connection_id,
        )

        connection_link.additional_properties = d
        return connection_link

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
