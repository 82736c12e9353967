from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.response_name import ResponseName
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.counter_slot import CounterSlot


T = TypeVar("T", bound="ProposalResponse")


@_attrs_define
class ProposalResponse:
    """A participant's response.

    Attributes:
        agent_id (str): The agent that responded.
        counter_slots (list[CounterSlot]): Times that the participant would prefer.
        created_at (datetime.datetime): When the participant responded.
        id (str): The identifier, `rsp_…`.
        response (ResponseName):
        calendar_id (str | Unset): The calendar for the participant's event. Absent if none is known.
        message (None | str | Unset): A message to the organizer.
        selected_slot_id (None | str | Unset): The slot that the response is about.
    """

    agent_id: str
    counter_slots: list[CounterSlot]
    created_at: datetime.datetime
    id: str
    response: ResponseName
    calendar_id: str | Unset = UNSET
    message: None | str | Unset = UNSET
    selected_slot_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agent_id = self.agent_id

        counter_slots = []
        for counter_slots_item_data in self.counter_slots:
            counter_slots_item = counter_slots_item_data.to_dict()
            counter_slots.append(counter_slots_item)

        created_at = self.created_at.isoformat()

        id = self.id

        response = self.response.value

        calendar_id = self.calendar_id

        message: None | str | Unset
        if isinstance(self.message, Unset):
            message = UNSET
        else:
            message = self.message

        selected_slot_id: None | str | Unset
        if isinstance(self.selected_slot_id, Unset):
            selected_slot_id = UNSET
        else:
            selected_slot_id = self.selected_slot_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent_id": agent_id,
                "counter_slots": counter_slots,
                "created_at": created_at,
                "id": id,
                "response": response,
            }
        )
        if calendar_id is not UNSET:
            field_dict["calendar_id"] = calendar_id
        if message is not UNSET:
            field_dict["message"] = message
        if selected_slot_id is not UNSET:
            field_dict["selected_slot_id"] = selected_slot_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.counter_slot import CounterSlot

        d = dict(src_dict)
        agent_id = d.pop("agent_id")

        counter_slots = []
        _counter_slots = d.pop("counter_slots")
        for counter_slots_item_data in _counter_slots:
            counter_slots_item = CounterSlot.from_dict(counter_slots_item_data)

            counter_slots.append(counter_slots_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        id = d.pop("id")

        response = ResponseName(d.pop("response"))

        calendar_id = d.pop("calendar_id", UNSET)

        def _parse_message(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        message = _parse_message(d.pop("message", UNSET))

        def _parse_selected_slot_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        selected_slot_id = _parse_selected_slot_id(d.pop("selected_slot_id", UNSET))

        proposal_response = cls(
            agent_id=agent_id,
            counter_slots=counter_slots,
            created_at=created_at,
            id=id,
            response=response,
            calendar_id=calendar_id,
            message=message,
            selected_slot_id=selected_slot_id,
        )

        proposal_response.additional_properties = d
        return proposal_response

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
