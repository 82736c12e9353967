from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.agent_status import AgentStatus
from ..models.agent_type import AgentType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.agent_metadata import AgentMetadata


T = TypeVar("T", bound="Agent")


@_attrs_define
class Agent:
    """An agent.

    Attributes:
        created_at (datetime.datetime): When the agent was created.
        id (str): The identifier, `agt_…`.
        metadata (AgentMetadata): Your own data.
        name (str): The name, 1-255 characters.
        org_id (str): The owning organization, `org_…`.
        status (AgentStatus): The status of an agent.
        type_ (AgentType): The kind of an agent.
        updated_at (datetime.datetime): When the agent was last changed.
        description (None | str | Unset): A description, as free text.
    """

    created_at: datetime.datetime
    id: str
    metadata: AgentMetadata
    name: str
    org_id: str
    status: AgentStatus
    type_: AgentType
    updated_at: datetime.datetime
    description: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        id = self.id

        metadata = self.metadata.to_dict()

        name = self.name

        org_id = self.org_id

        status = self.status.value

        type_ = self.type_.value

        updated_at = self.updated_at.isoformat()

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "createdAt": created_at,
                "id": id,
                "metadata": metadata,
                "name": name,
                "orgId": org_id,
                "status": status,
                "type": type_,
                "updatedAt": updated_at,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.agent_metadata import AgentMetadata

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        id = d.pop("id")

        metadata = AgentMetadata.from_dict(d.pop("metadata"))

        name = d.pop("name")

        org_id = d.pop("orgId")

        status = AgentStatus(d.pop("status"))

        type_ = AgentType(d.pop("type"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updatedAt"))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        agent = cls(
            created_at=created_at,
            id=id,
            metadata=metadata,
            name=name,
            org_id=org_id,
            status=status,
            type_=type_,
            updated_at=updated_at,
            description=description,
        )

        agent.additional_properties = d
        return agent

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
