from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.response_name import ResponseName

T = TypeVar("T", bound="ProposalResponded")


@_attrs_define
class ProposalResponded:
    """The payload of `proposal.responded`.

    Attributes:
        agent_id (str): The agent that responded.
        proposal_id (str): The proposal.
        response (ResponseName):
    """

    agent_id: str
    proposal_id: str
    response: ResponseName
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agent_id = self.agent_id

        proposal_id = self.proposal_id

        response = self.response.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent_id": agent_id,
                "proposal_id": proposal_id,
                "response": response,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        agent_id = d.pop("agent_id")

        proposal_id = d.pop("proposal_id")

        response = ResponseName(d.pop("response"))

        proposal_responded = cls(
            agent_id=agent_id,
            proposal_id=proposal_id,
            response=response,
        )

        proposal_responded.additional_properties = d
        return proposal_responded

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
