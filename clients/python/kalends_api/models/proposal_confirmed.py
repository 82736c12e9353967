from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.created_event import CreatedEvent
    from ..models.proposal_slot import ProposalSlot


T = TypeVar("T", bound="ProposalConfirmed")


@_attrs_define
class ProposalConfirmed:
    """The payload of `proposal.confirmed`.

    Attributes:
        created_events (list[CreatedEvent]): Every event that was created from the slot: the organizer's, then those of
            participants.
        proposal_id (str): The proposal.
        resolved_slot (ProposalSlot): A slot of a proposal.
        created_event_id (None | str | Unset): The organizer's event that was created from the slot.
    """

    created_events: list[CreatedEvent]
    proposal_id: str
    resolved_slot: ProposalSlot
    created_event_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_events = []
        for created_events_item_data in self.created_events:
            created_events_item = created_events_item_data.to_dict()
            created_events.append(created_events_item)

        proposal_id = self.proposal_id

        resolved_slot = self.resolved_slot.to_dict()

        created_event_id: None | str | Unset
        if isinstance(self.created_event_id, Unset):
            created_event_id = UNSET
        else:
            created_event_id = self.created_event_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created_events": created_events,
                "proposal_id": proposal_id,
                "resolved_slot": resolved_slot,
            }
        )
        if created_event_id is not UNSET:
            field_dict["created_event_id"] = created_event_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.created_event import CreatedEvent
        from ..models.proposal_slot import ProposalSlot

        d = dict(src_dict)
        created_events = []
        _created_events = d.pop("created_events")
        for created_events_item_data in _created_events:
            created_events_item = CreatedEvent.from_dict(created_events_item_data)

            created_events.append(created_events_item)

        proposal_id = d.pop("proposal_id")

        resolved_slot = ProposalSlot.from_dict(d.pop("resolved_slot"))

        def _parse_created_event_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        created_event_id = _parse_created_event_id(d.pop("created_event_id", UNSET))

        proposal_confirmed = cls(
            created_events=created_events,
            proposal_id=proposal_id,
            resolved_slot=resolved_slot,
            created_event_id=created_event_id,
        )

        proposal_confirmed.additional_properties = d
        return proposal_confirmed

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
