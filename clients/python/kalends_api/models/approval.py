from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.approval_status import ApprovalStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.approval_result import ApprovalResult


T = TypeVar("T", bound="Approval")


@_attrs_define
class Approval:
    """A write that waits for approval, or did.

    Attributes:
        agent_id (str): The agent whose key asked.
        created_at (datetime.datetime): When it was asked for.
        decide_url (str): The page on which a person decides. It asks for a sign-in.
        expires_at (datetime.datetime): When it expires, or would have expired. An approval that is about a hold expires
            with the hold at the latest.
        id (str): The identifier, `apr_…`.
        key_prefix (str): The first 20 characters of the key that asked.
        operation (str): The `operationId` of the operation that waits.
        status (ApprovalStatus): The status of an approval.
        summary (str): What would happen, in one sentence.
        decided_at (datetime.datetime | None | Unset): When it was decided. Absent until then.
        decided_by (None | str | Unset): Who decided: the first 20 characters of a key, or of a user's identifier, as in
            the audit log's
            `actor_key_prefix`. Absent until then.
        reason (None | str | Unset): Why it was denied. Absent if nobody said so.
        result (ApprovalResult | None | Unset):
    """

    agent_id: str
    created_at: datetime.datetime
    decide_url: str
    expires_at: datetime.datetime
    id: str
    key_prefix: str
    operation: str
    status: ApprovalStatus
    summary: str
    decided_at: datetime.datetime | None | Unset = UNSET
    decided_by: None | str | Unset = UNSET
    reason: None | str | Unset = UNSET
    result: ApprovalResult | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.approval_result import ApprovalResult

        agent_id = self.agent_id

        created_at = self.created_at.isoformat()

        decide_url = self.decide_url

        expires_at = self.expires_at.isoformat()

        id = self.id

        key_prefix = self.key_prefix

        operation = self.operation

        status = self.status.value

        summary = self.summary

        decided_at: None | str | Unset
        if isinstance(self.decided_at, Unset):
            decided_at = UNSET
        elif isinstance(self.decided_at, datetime.datetime):
            decided_at = self.decided_at.isoformat()
        else:
            decided_at = self.decided_at

        decided_by: None | str | Unset
        if isinstance(self.decided_by, Unset):
            decided_by = UNSET
        else:
            decided_by = self.decided_by

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        result: dict[str, Any] | None | Unset
        if isinstance(self.result, Unset):
            result = UNSET
        elif isinstance(self.result, ApprovalResult):
            result = self.result.to_dict()
        else:
            result = self.result

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent_id": agent_id,
                "created_at": created_at,
                "decide_url": decide_url,
                "expires_at": expires_at,
                "id": id,
                "key_prefix": key_prefix,
                "operation": operation,
                "status": status,
                "summary": summary,
            }
        )
        if decided_at is not UNSET:
            field_dict["decided_at"] = decided_at
        if decided_by is not UNSET:
            field_dict["decided_by"] = decided_by
        if reason is not UNSET:
            field_dict["reason"] = reason
        if result is not UNSET:
            field_dict["result"] = result

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.approval_result import ApprovalResult

        d = dict(src_dict)
        agent_id = d.pop("agent_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        decide_url = d.pop("decide_url")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        id = d.pop("id")

        key_prefix = d.pop("key_prefix")

        operation = d.pop("operation")

        status = ApprovalStatus(d.pop("status"))

        summary = d.pop("summary")

        def _parse_decided_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                decided_at_type_0 = datetime.datetime.fromisoformat(data)

                return decided_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        decided_at = _parse_decided_at(d.pop("decided_at", UNSET))

        def _parse_decided_by(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        decided_by = _parse_decided_by(d.pop("decided_by", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        def _parse_result(data: object) -> ApprovalResult | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                result_type_0 = ApprovalResult.from_dict(data)

                return result_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ApprovalResult | None | Unset, data)

        result = _parse_result(d.pop("result", UNSET))

        approval = cls(
            agent_id=agent_id,
            created_at=created_at,
            decide_url=decide_url,
            expires_at=expires_at,
            id=id,
            key_prefix=key_prefix,
            operation=operation,
            status=status,
            summary=summary,
            decided_at=decided_at,
            decided_by=decided_by,
            reason=reason,
            result=result,
        )

        approval.additional_properties = d
        return approval

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
