from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SignedUp")


@_attrs_define
class SignedUp:
    """The answer to the first sign-up with an address. The key is shown only in this answer.

    Attributes:
        agent_id (str): Its first agent.
        api_key (str): The API key. It works at once, with the sandbox limits.
        message (str): A message that is the same for every address.
        org_id (str): The new organization.
    """

    agent_id: str
    api_key: str
    message: str
    org_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agent_id = self.agent_id

        api_key = self.api_key

        message = self.message

        org_id = self.org_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent_id": agent_id,
                "api_key": api_key,
                "message": message,
                "org_id": org_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        agent_id = d.pop("agent_id")

        api_key = d.pop("api_key")

        message = d.pop("message")

        org_id = d.pop("org_id")

        signed_up = cls(
            agent_id=agent_id,
            api_key=api_key,
            message=message,
            org_id=org_id,
        )

        signed_up.additional_properties = d
        return signed_up

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
