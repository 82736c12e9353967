from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.availability_state import AvailabilityState
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.agent_availability_per_agent_busy import AgentAvailabilityPerAgentBusy
    from ..models.slot import Slot


T = TypeVar("T", bound="AgentAvailability")


@_attrs_define
class AgentAvailability:
    """The times at which agents are free.

    Attributes:
        agents (list[str]): The agents, in the order given.
        as_of (str): An opaque token of the state of the calendars that the answer is based on. Send it as `if_as_of`
            with a hold.
        availability_state (AvailabilityState): How complete and current the busy times behind an answer are.
        slots (list[Slot]): The slots in which all of them are free.
        warnings (list[str]): Warnings about the answer.
        per_agent_busy (AgentAvailabilityPerAgentBusy | Unset): Each agent's busy times, merged and clipped to the
            range; only with `include_busy=true`.
    """

    agents: list[str]
    as_of: str
    availability_state: AvailabilityState
    slots: list[Slot]
    warnings: list[str]
    per_agent_busy: AgentAvailabilityPerAgentBusy | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agents = self.agents

        as_of = self.as_of

        availability_state = self.availability_state.value

        slots = []
        for slots_item_data in self.slots:
            slots_item = slots_item_data.to_dict()
            slots.append(slots_item)

        warnings = self.warnings

        per_agent_busy: dict[str, Any] | Unset = UNSET
        if not isinstance(self.per_agent_busy, Unset):
            per_agent_busy = self.per_agent_busy.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agents": agents,
                "as_of": as_of,
                "availability_state": availability_state,
                "slots": slots,
                "warnings": warnings,
            }
        )
        if per_agent_busy is not UNSET:
            field_dict["per_agent_busy"] = per_agent_busy

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.agent_availability_per_agent_busy import (
            AgentAvailabilityPerAgentBusy,
        )
        from ..models.slot import Slot

        d = dict(src_dict)
        agents = cast(list[str], d.pop("agents"))

        as_of = d.pop("as_of")

        availability_state = AvailabilityState(d.pop("availability_state"))

        slots = []
        _slots = d.pop("slots")
        for slots_item_data in _slots:
            slots_item = Slot.from_dict(slots_item_data)

            slots.append(slots_item)

        warnings = cast(list[str], d.pop("warnings"))

        _per_agent_busy = d.pop("per_agent_busy", UNSET)
        per_agent_busy: AgentAvailabilityPerAgentBusy | Unset
        if isinstance(_per_agent_busy, Unset):
            per_agent_busy = UNSET
        else:
            per_agent_busy = AgentAvailabilityPerAgentBusy.from_dict(_per_agent_busy)

        agent_availability = cls(
            agents=agents,
            as_of=as_of,
            availability_state=availability_state,
            slots=slots,
            warnings=warnings,
            per_agent_busy=per_agent_busy,
        )

        agent_availability.additional_properties = d
        return agent_availability

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
