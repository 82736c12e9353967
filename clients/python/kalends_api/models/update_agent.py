from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.agent_status import AgentStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.update_agent_metadata import UpdateAgentMetadata


T = TypeVar("T", bound="UpdateAgent")


@_attrs_define
class UpdateAgent:
    """The fields of an agent that a PATCH can change. At least one is required.

    Attributes:
        description (None | str | Unset): A new description. Null clears it.
        metadata (UpdateAgentMetadata | Unset): Replaces the metadata as a whole.
        name (str | Unset): A new name, 1-255 characters. Must not be blank or contain NUL.
        status (AgentStatus | Unset): The status of an agent.
    """

    description: None | str | Unset = UNSET
    metadata: UpdateAgentMetadata | Unset = UNSET
    name: str | Unset = UNSET
    status: AgentStatus | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        name = self.name

        status: str | Unset = UNSET
        if not isinstance(self.status, Unset):
            status = self.status.value

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if description is not UNSET:
            field_dict["description"] = description
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if name is not UNSET:
            field_dict["name"] = name
        if status is not UNSET:
            field_dict["status"] = status

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.update_agent_metadata import UpdateAgentMetadata

        d = dict(src_dict)

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        _metadata = d.pop("metadata", UNSET)
        metadata: UpdateAgentMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = UpdateAgentMetadata.from_dict(_metadata)

        name = d.pop("name", UNSET)

        _status = d.pop("status", UNSET)
        status: AgentStatus | Unset
        if isinstance(_status, Unset):
            status = UNSET
        else:
            status = AgentStatus(_status)

        update_agent = cls(
            description=description,
            metadata=metadata,
            name=name,
            status=status,
        )

        return update_agent
