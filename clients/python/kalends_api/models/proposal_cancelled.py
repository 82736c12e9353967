from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.proposal_cancel_reason import ProposalCancelReason

T = TypeVar("T", bound="ProposalCancelled")


@_attrs_define
class ProposalCancelled:
    """The payload of `proposal.cancelled`.

    Attributes:
        proposal_id (str): The proposal.
        reason (ProposalCancelReason):
    """

    proposal_id: str
    reason: ProposalCancelReason
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        proposal_id = self.proposal_id

        reason = self.reason.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "proposal_id": proposal_id,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        proposal_id = d.pop("proposal_id")

        reason = ProposalCancelReason(d.pop("reason"))

        proposal_cancelled = cls(
            proposal_id=proposal_id,
            reason=reason,
        )

        proposal_cancelled.additional_properties = d
        return proposal_cancelled

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
