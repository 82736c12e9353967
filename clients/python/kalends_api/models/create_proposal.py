from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.placement_name import PlacementName
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.create_proposal_metadata_type_0 import CreateProposalMetadataType0
    from ..models.offered_slot import OfferedSlot


T = TypeVar("T", bound="CreateProposal")


@_attrs_define
class CreateProposal:
    """The fields of a new proposal.

    Attributes:
        calendar_id (str): The calendar on which the event is created, `cal_…`.
        organizer_agent_id (str): The agent that organizes the proposal, `agt_…`.
        participant_agent_ids (list[str]): The agents to ask: 1-50, without duplicates. The organizer may be one of
            them.
        slots (list[OfferedSlot]): The slots to offer: 1-20.
        title (str): A title, 1-500 characters. The event gets it too. Must not be blank or contain NUL.
        description (None | str | Unset): A description of at most 5,000 characters. The event gets it too.
        expires_at (datetime.datetime | None | Unset): When the proposal expires. RFC 3339 with an offset. Defaults to
            the start of the last slot.
        hold_slots (bool | Unset): Whether to reserve the slots while the proposal is pending, so that nobody else can
            take them.
        metadata (CreateProposalMetadataType0 | None | Unset): Your own data: an object of at most 16,384 bytes.
        min_accepts (int | None | Unset): How many responses must accept a slot before it can be confirmed: 0, the
            default, to the number of participants. If
            no slot has as many, the proposal stays pending.
        placement (None | PlacementName | Unset):
        skip_taken (bool | Unset): Whether resolving the proposal skips slots that were taken in the meantime. With
            `placement` `all`, a slot is taken
            if one of the calendars is.
    """

    calendar_id: str
    organizer_agent_id: str
    participant_agent_ids: list[str]
    slots: list[OfferedSlot]
    title: str
    description: None | str | Unset = UNSET
    expires_at: datetime.datetime | None | Unset = UNSET
    hold_slots: bool | Unset = UNSET
    metadata: CreateProposalMetadataType0 | None | Unset = UNSET
    min_accepts: int | None | Unset = UNSET
    placement: None | PlacementName | Unset = UNSET
    skip_taken: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.create_proposal_metadata_type_0 import CreateProposalMetadataType0

        calendar_id = self.calendar_id

        organizer_agent_id = self.organizer_agent_id

        participant_agent_ids = self.participant_agent_ids

        slots = []
        for slots_item_data in self.slots:
            slots_item = slots_item_data.to_dict()
            slots.append(slots_item)

        title = self.title

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        hold_slots = self.hold_slots

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateProposalMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        min_accepts: int | None | Unset
        if isinstance(self.min_accepts, Unset):
            min_accepts = UNSET
        else:
            min_accepts = self.min_accepts

        placement: None | str | Unset
        if isinstance(self.placement, Unset):
            placement = UNSET
        elif isinstance(self.placement, PlacementName):
            placement = self.placement.value
        else:
            placement = self.placement

        skip_taken = self.skip_taken

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "calendar_id": calendar_id,
                "organizer_agent_id": organizer_agent_id,
                "participant_agent_ids": participant_agent_ids,
                "slots": slots,
                "title": title,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if hold_slots is not UNSET:
            field_dict["hold_slots"] = hold_slots
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if min_accepts is not UNSET:
            field_dict["min_accepts"] = min_accepts
        if placement is not UNSET:
            field_dict["placement"] = placement
        if skip_taken is not UNSET:
            field_dict["skip_taken"] = skip_taken

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.create_proposal_metadata_type_0 import CreateProposalMetadataType0
        from ..models.offered_slot import OfferedSlot

        d = dict(src_dict)
        calendar_id = d.pop("calendar_id")

        organizer_agent_id = d.pop("organizer_agent_id")

        participant_agent_ids = cast(list[str], d.pop("participant_agent_ids"))

        slots = []
        _slots = d.pop("slots")
        for slots_item_data in _slots:
            slots_item = OfferedSlot.from_dict(slots_item_data)

            slots.append(slots_item)

        title = d.pop("title")

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_expires_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        hold_slots = d.pop("hold_slots", UNSET)

        def _parse_metadata(data: object) -> CreateProposalMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateProposalMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateProposalMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        def _parse_min_accepts(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        min_accepts = _parse_min_accepts(d.pop("min_accepts", UNSET))

        def _parse_placement(data: object) -> None | PlacementName | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                placement_type_0 = PlacementName(data)

                return placement_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlacementName | Unset, data)

        placement = _parse_placement(d.pop("placement", UNSET))

        skip_taken = d.pop("skip_taken", UNSET)

        create_proposal = cls(
            calendar_id=calendar_id,
            organizer_agent_id=organizer_agent_id,
            participant_agent_ids=participant_agent_ids,
            slots=slots,
            title=title,
            description=description,
            expires_at=expires_at,
            hold_slots=hold_slots,
            metadata=metadata,
            min_accepts=min_accepts,
            placement=placement,
            skip_taken=skip_taken,
        )

        return create_proposal
