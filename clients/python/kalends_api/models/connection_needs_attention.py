from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.attention_status import AttentionStatus
from ..models.provider_name import ProviderName

T = TypeVar("T", bound="ConnectionNeedsAttention")


@_attrs_define
class ConnectionNeedsAttention:
    """The payload of `connection.needs_attention`.

    Attributes:
        connection_id (str): The connection, `con_…`. Only its user can see more of it.
        provider (ProviderName):
        status (AttentionStatus):
    """

    connection_id: str
    provider: ProviderName
    status: AttentionStatus
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        connection_id = self.connection_id

        provider = self.provider.value

        status = self.status.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "connection_id": connection_id,
                "provider": provider,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        connection_id = d.pop("connection_id")

        provider = ProviderName(d.pop("provider"))

        status = AttentionStatus(d.pop("status"))

        connection_needs_attention = cls(
            connection_id=connection_id,
            provider=provider,
            status=status,
        )

        connection_needs_attention.additional_properties = d
        return connection_needs_attention

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
