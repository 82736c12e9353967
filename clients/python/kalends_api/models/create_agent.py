from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.agent_type import AgentType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.create_agent_metadata_type_0 import CreateAgentMetadataType0


T = TypeVar("T", bound="CreateAgent")


@_attrs_define
class CreateAgent:
    """The fields of a new agent.

    Attributes:
        name (str): A name, 1-255 characters. Must not be blank or contain NUL.
        type_ (AgentType): The kind of an agent.
        description (None | str | Unset): A description of at most 5,000 characters.
        metadata (CreateAgentMetadataType0 | None | Unset): Your own data: an object of at most 16,384 bytes.
    """

    name: str
    type_: AgentType
    description: None | str | Unset = UNSET
    metadata: CreateAgentMetadataType0 | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.create_agent_metadata_type_0 import CreateAgentMetadataType0

        name = self.name

        type_ = self.type_.value

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateAgentMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "type": type_,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.create_agent_metadata_type_0 import CreateAgentMetadataType0

        d = dict(src_dict)
        name = d.pop("name")

        type_ = AgentType(d.pop("type"))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_metadata(data: object) -> CreateAgentMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateAgentMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateAgentMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        create_agent = cls(
            name=name,
            type_=type_,
            description=description,
            metadata=metadata,
        )

        return create_agent
