from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.all_writes import AllWrites
from ..models.scope import Scope
from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateScopedKey")


@_attrs_define
class CreateScopedKey:
    """The fields of a new agent-scoped key.

    Attributes:
        agent_id (str): The agent that the key is scoped to.
        approval_expires_in_minutes (int | None | Unset): How long an approval waits for a decision, in minutes. Only
            with `requires_approval`. Default: 1440.
        label (None | str | Unset): A label, 1-100 characters. Must not be blank or contain NUL.
        requires_approval (AllWrites | list[str] | None | Unset):
        scopes (list[Scope] | None | Unset): What the key reaches beyond its agent, each scope once. Defaults to
            nothing.
    """

    agent_id: str
    approval_expires_in_minutes: int | None | Unset = 1440
    label: None | str | Unset = UNSET
    requires_approval: AllWrites | list[str] | None | Unset = UNSET
    scopes: list[Scope] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        agent_id = self.agent_id

        approval_expires_in_minutes: int | None | Unset
        if isinstance(self.approval_expires_in_minutes, Unset):
            approval_expires_in_minutes = UNSET
        else:
            approval_expires_in_minutes = self.approval_expires_in_minutes

        label: None | str | Unset
        if isinstance(self.label, Unset):
            label = UNSET
        else:
            label = self.label

        requires_approval: list[str] | None | str | Unset
        if isinstance(self.requires_approval, Unset):
            requires_approval = UNSET
        elif isinstance(self.requires_approval, AllWrites):
            requires_approval = self.requires_approval.value
        elif isinstance(self.requires_approval, list):
            requires_approval = self.requires_approval

        else:
            requires_approval = self.requires_approval

        scopes: list[str] | None | Unset
        if isinstance(self.scopes, Unset):
            scopes = UNSET
        elif isinstance(self.scopes, list):
            scopes = []
            for scopes_type_0_item_data in self.scopes:
                scopes_type_0_item = scopes_type_0_item_data.value
                scopes.append(scopes_type_0_item)

        else:
            scopes = self.scopes

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agent_id": agent_id,
            }
        )
        if approval_expires_in_minutes is not UNSET:
            field_dict["approval_expires_in_minutes"] = approval_expires_in_minutes
        if label is not UNSET:
            field_dict["label"] = label
        if requires_approval is not UNSET:
            field_dict["requires_approval"] = requires_approval
        if scopes is not UNSET:
            field_dict["scopes"] = scopes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        agent_id = d.pop("agent_id")

        def _parse_approval_expires_in_minutes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        approval_expires_in_minutes = _parse_approval_expires_in_minutes(
            d.pop("approval_expires_in_minutes", UNSET)
        )

        def _parse_label(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        label = _parse_label(d.pop("label", UNSET))

        def _parse_requires_approval(
            data: object,
        ) -> AllWrites | list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_required_approval_type_0 = AllWrites(data)

                return componentsschemas_required_approval_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                componentsschemas_required_approval_type_1 = cast(list[str], data)

                return componentsschemas_required_approval_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AllWrites | list[str] | None | Unset, data)

        requires_approval = _parse_requires_approval(d.pop("requires_approval", UNSET))

        def _parse_scopes(data: object) -> list[Scope] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                scopes_type_0 = []
                _scopes_type_0 = data
                for scopes_type_0_item_data in _scopes_type_0:
                    scopes_type_0_item = Scope(scopes_type_0_item_data)

                    scopes_type_0.append(scopes_type_0_item)

                return scopes_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Scope] | None | Unset, data)

        scopes = _parse_scopes(d.pop("scopes", UNSET))

        create_scoped_key = cls(
            agent_id=agent_id,
            approval_expires_in_minutes=approval_expires_in_minutes,
            label=label,
            requires_approval=requires_approval,
            scopes=scopes,
        )

        return create_scoped_key
