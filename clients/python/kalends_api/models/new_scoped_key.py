from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.all_writes import AllWrites
from ..models.scope import Scope
from ..types import UNSET, Unset

T = TypeVar("T", bound="NewScopedKey")


@_attrs_define
class NewScopedKey:
    """A new key that is scoped to one agent. The secret is shown only in this answer.

    Attributes:
        agent_id (str): The agent that the key is scoped to.
        created_at (datetime.datetime): When the key was created.
        id (str): The identifier, `key_…`.
        key (str): The key itself. Store it now: it is not shown again.
        key_prefix (str): The first 20 characters of the key, to identify it.
        approval_expires_in_minutes (int | Unset): How long an approval waits for a decision, in minutes. Absent if no
            write needs one.
        label (None | str | Unset): The label. Null if the key has none.
        requires_approval (AllWrites | list[str] | Unset): The writes of a key that need approval.
        scopes (list[Scope] | Unset): What the key reaches beyond its agent. Absent if it is nothing.
    """

    agent_id: str
    created_at: datetime.datetime
    id: str
    key: str
    key_prefix: str
    approval_expires_in_minutes: int | Unset = UNSET
    label: None | str | Unset = UNSET
    requires_approval: AllWrites | list[str] | Unset = UNSET
    scopes: list[Scope] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agent_id = self.agent_id

        created_at = self.created_at.isoformat()

        id = self.id

        key = self.key

        key_prefix = self.key_prefix

        approval_expires_in_minutes = self.approval_expires_in_minutes

        label: None | str | Unset
        if isinstance(self.label, Unset):
            label = UNSET
        else:
            label = self.label

        requires_approval: list[str] | str | Unset
        if isinstance(self.requires_approval, Unset):
            requires_approval = UNSET
        elif isinstance(self.requires_approval, AllWrites):
            requires_approval = self.requires_approval.value
        else:
            requires_approval = self.requires_approval

        scopes: list[str] | Unset = UNSET
        if not isinstance(self.scopes, Unset):
            scopes = []
            for scopes_item_data in self.scopes:
                scopes_item = scopes_item_data.value
                scopes.append(scopes_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent_id": agent_id,
                "created_at": created_at,
                "id": id,
                "key": key,
                "key_prefix": key_prefix,
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

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        id = d.pop("id")

        key = d.pop("key")

        key_prefix = d.pop("key_prefix")

        approval_expires_in_minutes = d.pop("approval_expires_in_minutes", UNSET)

        def _parse_label(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        label = _parse_label(d.pop("label", UNSET))

        def _parse_requires_approval(data: object) -> AllWrites | list[str] | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_required_approval_type_0 = AllWrites(data)

                return componentsschemas_required_approval_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, list):
                raise TypeError()
            componentsschemas_required_approval_type_1 = cast(list[str], data)

            return componentsschemas_required_approval_type_1

        requires_approval = _parse_requires_approval(d.pop("requires_approval", UNSET))

        _scopes = d.pop("scopes", UNSET)
        scopes: list[Scope] | Unset = UNSET
        if _scopes is not UNSET:
            scopes = []
            for scopes_item_data in _scopes:
                scopes_item = Scope(scopes_item_data)

                scopes.append(scopes_item)

        new_scoped_key = cls(
            agent_id=agent_id,
            created_at=created_at,
            id=id,
            key=key,
            key_prefix=key_prefix,
            approval_expires_in_minutes=approval_expires_in_minutes,
            label=label,
            requires_approval=requires_approval,
            scopes=scopes,
        )

        new_scoped_key.additional_properties = d
        return new_scoped_key

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
