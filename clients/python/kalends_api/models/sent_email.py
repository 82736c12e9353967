from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.email_status import EmailStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.email_reply import EmailReply


T = TypeVar("T", bound="SentEmail")


@_attrs_define
class SentEmail:
    """An email that Kalends sends for the organization.

    Attributes:
        attempts (int): The number of attempts that ended.
        created_at (datetime.datetime): When the email was written.
        id (str): The identifier, `eml_…`.
        status (EmailStatus): The status of an email.
        subject (str): The subject line.
        to (str): The recipient's address.
        ended_at (datetime.datetime | None | Unset): When it was sent or given up. Null while it is pending.
        last_reply (EmailReply | None | Unset):
        next_attempt_at (datetime.datetime | None | Unset): When the next attempt is due. Null unless the email is
            pending.
    """

    attempts: int
    created_at: datetime.datetime
    id: str
    status: EmailStatus
    subject: str
    to: str
    ended_at: datetime.datetime | None | Unset = UNSET
    last_reply: EmailReply | None | Unset = UNSET
    next_attempt_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.email_reply import EmailReply

        attempts = self.attempts

        created_at = self.created_at.isoformat()

        id = self.id

        status = self.status.value

        subject = self.subject

        to = self.to

        ended_at: None | str | Unset
        if isinstance(self.ended_at, Unset):
            ended_at = UNSET
        elif isinstance(self.ended_at, datetime.datetime):
            ended_at = self.ended_at.isoformat()
        else:
            ended_at = self.ended_at

        last_reply: dict[str, Any] | None | Unset
        if isinstance(self.last_reply, Unset):
            last_reply = UNSET
        elif isinstance(self.last_reply, EmailReply):
            last_reply = self.last_reply.to_dict()
        else:
            last_reply = self.last_reply

        next_attempt_at: None | str | Unset
        if isinstance(self.next_attempt_at, Unset):
            next_attempt_at = UNSET
        elif isinstance(self.next_attempt_at, datetime.datetime):
            next_attempt_at = self.next_attempt_at.isoformat()
        else:
            next_attempt_at = self.next_attempt_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempts": attempts,
                "created_at": created_at,
                "id": id,
                "status": status,
                "subject": subject,
                "to": to,
            }
        )
        if ended_at is not UNSET:
            field_dict["ended_at"] = ended_at
        if last_reply is not UNSET:
            field_dict["last_reply"] = last_reply
        if next_attempt_at is not UNSET:
            field_dict["next_attempt_at"] = next_attempt_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.email_reply import EmailReply

        d = dict(src_dict)
        attempts = d.pop("attempts")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        id = d.pop("id")

        status = EmailStatus(d.pop("status"))

        subject = d.pop("subject")

        to = d.pop("to")

        def _parse_ended_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ended_at_type_0 = datetime.datetime.fromisoformat(data)

                return ended_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        ended_at = _parse_ended_at(d.pop("ended_at", UNSET))

        def _parse_last_reply(data: object) -> EmailReply | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                last_reply_type_0 = EmailReply.from_dict(data)

                return last_reply_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EmailReply | None | Unset, data)

        last_reply = _parse_last_reply(d.pop("last_reply", UNSET))

        def _parse_next_attempt_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_attempt_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        next_attempt_at = _parse_next_attempt_at(d.pop("next_attempt_at", UNSET))

        sent_email = cls(
            attempts=attempts,
            created_at=created_at,
            id=id,
            status=status,
            subject=subject,
            to=to,
            ended_at=ended_at,
            last_reply=last_reply,
            next_attempt_at=next_attempt_at,
        )

        sent_email.additional_properties = d
        return sent_email

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
