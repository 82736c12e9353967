from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.capability_name import CapabilityName
from ..models.policy_name import PolicyName
from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateConnectionLink")


@_attrs_define
class CreateConnectionLink:
    """The fields of a new connection link.

    Attributes:
        capabilities (list[CapabilityName] | None | Unset): The access to ask for: `availability`, or `availability` and
            `publishing` to publish events to the calendar.
            Defaults to `availability`.
        publication_policy (None | PolicyName | Unset):
    """

    capabilities: list[CapabilityName] | None | Unset = UNSET
    publication_policy: None | PolicyName | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        capabilities: list[str] | None | Unset
        if isinstance(self.capabilities, Unset):
            capabilities = UNSET
        elif isinstance(self.capabilities, list):
            capabilities = []
            for capabilities_type_0_item_data in self.capabilities:
                capabilities_type_0_item = capabilities_type_0_item_data.value
                capabilities.append(capabilities_type_0_item)

        else:
            capabilities = self.capabilities

        publication_policy: None | str | Unset
        if isinstance(self.publication_policy, Unset):
            publication_policy = UNSET
        elif isinstance(self.publication_policy, PolicyName):
            publication_policy = self.publication_policy.value
        else:
            publication_policy = self.publication_policy

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if capabilities is not UNSET:
            field_dict["capabilities"] = capabilities
        if publication_policy is not UNSET:
            field_dict["publication_policy"] = publication_policy

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_capabilities(data: object) -> list[CapabilityName] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                capabilities_type_0 = []
                _capabilities_type_0 = data
                for capabilities_type_0_item_data in _capabilities_type_0:
                    capabilities_type_0_item = CapabilityName(
                        capabilities_type_0_item_data
                    )

                    capabilities_type_0.append(capabilities_type_0_item)

                return capabilities_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CapabilityName] | None | Unset, data)

        capabilities = _parse_capabilities(d.pop("capabilities", UNSET))

        def _parse_publication_policy(data: object) -> None | PolicyName | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                publication_policy_type_0 = PolicyName(data)

                return publication_policy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PolicyName | Unset, data)

        publication_policy = _parse_publication_policy(
            d.pop("publication_policy", UNSET)
        )

        create_connection_link = cls(
            capabilities=capabilities,
            publication_policy=publication_policy,
        )

        return create_connection_link
