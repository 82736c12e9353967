from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.placement_name import PlacementName
from ..models.proposal_cancel_reason import ProposalCancelReason
from ..models.proposal_status import ProposalStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.created_event import CreatedEvent
    from ..models.proposal_summary_metadata import ProposalSummaryMetadata


T = TypeVar("T", bound="ProposalSummary")


@_attrs_define
class ProposalSummary:
    """A proposal, as lists show it.

    Attributes:
        calendar_id (str): The calendar on which the event is created, unless its slot names another.
        created_at (datetime.datetime): When the proposal was created.
        created_events (list[CreatedEvent]): Every event that was created from the slot: the organizer's, then those of
            participants. Empty unless the proposal
            is confirmed.
        expires_at (datetime.datetime): When the proposal expires or would have expired.
        hold_slots (bool): Whether the slots are reserved while the proposal is pending.
        id (str): The identifier, `spr_…`.
        metadata (ProposalSummaryMetadata): Your own data.
        min_accepts (int): How many responses must accept a slot before it can be confirmed.
        organizer_agent_id (str): The agent that organizes the proposal.
        participant_agent_ids (list[str]): The agents that are asked to respond.
        placement (PlacementName):
        skip_taken (bool): Whether resolving the proposal skips slots that are taken.
        status (ProposalStatus):
        title (str): The title, which the event gets too.
        updated_at (datetime.datetime): When the proposal was last changed.
        created_event_id (None | str | Unset): The organizer's event that was created from the slot. Null unless the
            proposal is confirmed.
        description (None | str | Unset): The description, which the event gets too.
        reason (None | ProposalCancelReason | Unset):
        resolved_slot_id (None | str | Unset): The winning slot. Null unless the proposal is confirmed.
    """

    calendar_id: str
    created_at: datetime.datetime
    created_events: list[CreatedEvent]
    expires_at: datetime.datetime
    hold_slots: bool
    id: str
    metadata: ProposalSummaryMetadata
    min_accepts: int
    organizer_agent_id: str
    participant_agent_ids: list[str]
    placement: PlacementName
    skip_taken: bool
    status: ProposalStatus
    title: str
    updated_at: datetime.datetime
    created_event_id: None | str | Unset = UNSET
    description: None | str | Unset = UNSET
    reason: None | ProposalCancelReason | Unset = UNSET
    resolved_slot_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        calendar_id = self.calendar_id

        created_at = self.created_at.isoformat()

        created_events = []
        for created_events_item_data in self.created_events:
            created_events_item = created_events_item_data.to_dict()
            created_events.append(created_events_item)

        expires_at = self.expires_at.isoformat()

        hold_slots = self.hold_slots

        id = self.id

        metadata = self.metadata.to_dict()

        min_accepts = self.min_accepts

        organizer_agent_id = self.organizer_agent_id

        participant_agent_ids = self.participant_agent_ids

        placement = self.placement.value

        skip_taken = self.skip_taken

        status = self.status.value

        title = self.title

        updated_at = self.updated_at.isoformat()

        created_event_id: None | str | Unset
        if isinstance(self.created_event_id, Unset):
            created_event_id = UNSET
        else:
            created_event_id = self.created_event_id

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        elif isinstance(self.reason, ProposalCancelReason):
            reason = self.reason.value
        else:
            reason = self.reason

        resolved_slot_id: None | str | Unset
        if isinstance(self.resolved_slot_id, Unset):
            resolved_slot_id = UNSET
        else:
            resolved_slot_id = self.resolved_slot_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "calendar_id": calendar_id,
                "created_at": created_at,
                "created_events": created_events,
                "expires_at": expires_at,
                "hold_slots": hold_slots,
                "id": id,
                "metadata": metadata,
                "min_accepts": min_accepts,
                "organizer_agent_id": organizer_agent_id,
                "participant_agent_ids": participant_agent_ids,
                "placement": placement,
                "skip_taken": skip_taken,
                "status": status,
                "title": title,
                "updated_at": updated_at,
            }
        )
        if created_event_id is not UNSET:
            field_dict["created_event_id"] = created_event_id
        if description is not UNSET:
            field_dict["description"] = description
        if reason is not UNSET:
            field_dict["reason"] = reason
        if resolved_slot_id is not UNSET:
            field_dict["resolved_slot_id"] = resolved_slot_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.created_event import CreatedEvent
        from ..models.proposal_summary_metadata import ProposalSummaryMetadata

        d = dict(src_dict)
        calendar_id = d.pop("calendar_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        created_events = []
        _created_events = d.pop("created_events")
        for created_events_item_data in _created_events:
            created_events_item = CreatedEvent.from_dict(created_events_item_data)

            created_events.append(created_events_item)

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        hold_slots = d.pop("hold_slots")

        id = d.pop("id")

        metadata = ProposalSummaryMetadata.from_dict(d.pop("metadata"))

        min_accepts = d.pop("min_accepts")

        organizer_agent_id = d.pop("organizer_agent_id")

        participant_agent_ids = cast(list[str], d.pop("participant_agent_ids"))

        placement = PlacementName(d.pop("placement"))

        skip_taken = d.pop("skip_taken")

        status = ProposalStatus(d.pop("status"))

        title = d.pop("title")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_created_event_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        created_event_id = _parse_created_event_id(d.pop("created_event_id", UNSET))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_reason(data: object) -> None | ProposalCancelReason | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                reason_type_0 = ProposalCancelReason(data)

                return reason_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ProposalCancelReason | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        def _parse_resolved_slot_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        resolved_slot_id = _parse_resolved_slot_id(d.pop("resolved_slot_id", UNSET))

        proposal_summary = cls(
            calendar_id=calendar_id,
            created_at=created_at,
            created_events=created_events,
            expires_at=expires_at,
            hold_slots=hold_slots,
            id=id,
            metadata=metadata,
            min_accepts=min_accepts,
            organizer_agent_id=organizer_agent_id,
            participant_agent_ids=participant_agent_ids,
            placement=placement,
            skip_taken=skip_taken,
            status=status,
            title=title,
            updated_at=updated_at,
            created_event_id=created_event_id,
            description=description,
            reason=reason,
            resolved_slot_id=resolved_slot_id,
        )

        proposal_summary.additional_properties = d
        return proposal_summary

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
