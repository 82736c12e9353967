from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.resolution_reason import ResolutionReason
from ..models.resolution_status import ResolutionStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.created_event import CreatedEvent
    from ..models.proposal_slot import ProposalSlot


T = TypeVar("T", bound="Resolution")


@_attrs_define
class Resolution:
    """The outcome of resolving or cancelling a proposal.

    Attributes:
        status (ResolutionStatus):
        created_event_id (str | Unset): The organizer's event that was created from the slot. Absent if no slot won.
        created_events (list[CreatedEvent] | Unset): Every event that was created from the slot: the organizer's, then
            those of participants. Absent if no slot won.
        reason (ResolutionReason | Unset):
        resolved_slot (ProposalSlot | Unset): A slot of a proposal.
    """

    status: ResolutionStatus
    created_event_id: str | Unset = UNSET
    created_events: list[CreatedEvent] | Unset = UNSET
    reason: ResolutionReason | Unset = UNSET
    resolved_slot: ProposalSlot | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status = self.status.value

        created_event_id = self.created_event_id

        created_events: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.created_events, Unset):
            created_events = []
            for created_events_item_data in self.created_events:
                created_events_item = created_events_item_data.to_dict()
                created_events.append(created_events_item)

        reason: str | Unset = UNSET
        if not isinstance(self.reason, Unset):
            reason = self.reason.value

        resolved_slot: dict[str, Any] | Unset = UNSET
        if not isinstance(self.resolved_slot, Unset):
            resolved_slot = self.resolved_slot.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
            }
        )
        if created_event_id is not UNSET:
            field_dict["created_event_id"] = created_event_id
        if created_events is not UNSET:
            field_dict["created_events"] = created_events
        if reason is not UNSET:
            field_dict["reason"] = reason
        if resolved_slot is not UNSET:
            field_dict["resolved_slot"] = resolved_slot

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.created_event import CreatedEvent
        from ..models.proposal_slot import ProposalSlot

        d = dict(src_dict)
        status = ResolutionStatus(d.pop("status"))

        created_event_id = d.pop("created_event_id", UNSET)

        _created_events = d.pop("created_events", UNSET)
        created_events: list[CreatedEvent] | Unset = UNSET
        if _created_events is not UNSET:
            created_events = []
            for created_events_item_data in _created_events:
                created_events_item = CreatedEvent.from_dict(created_events_item_data)

                created_events.append(created_events_item)

        _reason = d.pop("reason", UNSET)
        reason: ResolutionReason | Unset
        if isinstance(_reason, Unset):
            reason = UNSET
        else:
            reason = ResolutionReason(_reason)

        _resolved_slot = d.pop("resolved_slot", UNSET)
        resolved_slot: ProposalSlot | Unset
        if isinstance(_resolved_slot, Unset):
            resolved_slot = UNSET
        else:
            resolved_slot = ProposalSlot.from_dict(_resolved_slot)

        resolution = cls(
            status=status,
            created_event_id=created_event_id,
            created_events=created_events,
            reason=reason,
            resolved_slot=resolved_slot,
        )

        resolution.additional_properties = d
        return resolution

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
