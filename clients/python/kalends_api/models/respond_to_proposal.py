from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.response_name import ResponseName
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.offered_counter_slot import OfferedCounterSlot


T = TypeVar("T", bound="RespondToProposal")


@_attrs_define
class RespondToProposal:
    """The fields of a participant's response.

    Attributes:
        agent_id (str): The participant that responds, `agt_…`.
        response (ResponseName):
        calendar_id (None | str | Unset): The participant's calendar for its event, `cal_…`, if the proposal has the
            placement `all`. Required if the agent
            has several calendars and does not decline.
        counter_slots (list[OfferedCounterSlot] | None | Unset): Up to 20 times that the participant would prefer. They
            are information for the organizer.
        message (None | str | Unset): A message to the organizer, at most 2,000 characters.
        selected_slot_id (None | str | Unset): The slot that the response is about, `slt_…`. Required with `accept`.
    """

    agent_id: str
    response: ResponseName
    calendar_id: None | str | Unset = UNSET
    counter_slots: list[OfferedCounterSlot] | None | Unset = UNSET
    message: None | str | Unset = UNSET
    selected_slot_id: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        agent_id = self.agent_id

        response = self.response.value

        calendar_id: None | str | Unset
        if isinstance(self.calendar_id, Unset):
            calendar_id = UNSET
        else:
            calendar_id = self.calendar_id

        counter_slots: list[dict[str, Any]] | None | Unset
        if isinstance(self.counter_slots, Unset):
            counter_slots = UNSET
        elif isinstance(self.counter_slots, list):
            counter_slots = []
            for counter_slots_type_0_item_data in self.counter_slots:
                counter_slots_type_0_item = counter_slots_type_0_item_data.to_dict()
                counter_slots.append(counter_slots_type_0_item)

        else:
            counter_slots = self.counter_slots

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

        field_dict.update(
            {
                "agent_id": agent_id,
                "response": response,
            }
        )
        if calendar_id is not UNSET:
            field_dict["calendar_id"] = calendar_id
        if counter_slots is not UNSET:
            field_dict["counter_slots"] = counter_slots
        if message is not UNSET:
            field_dict["message"] = message
        if selected_slot_id is not UNSET:
            field_dict["selected_slot_id"] = selected_slot_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.offered_counter_slot import OfferedCounterSlot

        d = dict(src_dict)
        agent_id = d.pop("agent_id")

        response = ResponseName(d.pop("response"))

        def _parse_calendar_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        calendar_id = _parse_calendar_id(d.pop("calendar_id", UNSET))

        def _parse_counter_slots(
            data: object,
        ) -> list[OfferedCounterSlot] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                counter_slots_type_0 = []
                _counter_slots_type_0 = data
                for counter_slots_type_0_item_data in _counter_slots_type_0:
                    counter_slots_type_0_item = OfferedCounterSlot.from_dict(
                        counter_slots_type_0_item_data
                    )

                    counter_slots_type_0.append(counter_slots_type_0_item)

                return counter_slots_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[OfferedCounterSlot] | None | Unset, data)

        counter_slots = _parse_counter_slots(d.pop("counter_slots", UNSET))

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

        respond_to_proposal = cls(
            agent_id=agent_id,
            response=response,
            calendar_id=calendar_id,
            counter_slots=counter_slots,
            message=message,
            selected_slot_id=selected_slot_id,
        )

        return respond_to_proposal
