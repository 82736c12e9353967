from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="AnswerReplyLink")


@_attrs_define
class AnswerReplyLink:
    """The answer of an address that was asked whether replies may go to it.

    Attributes:
        agrees (bool): Whether replies may go to the address. False also ends replies that went there before.
    """

    agrees: bool

    def to_dict(self) -> dict[str, Any]:
        agrees = self.agrees

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agrees": agrees,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        agrees = d.pop("agrees")

        answer_reply_link = cls(
            agrees=agrees,
        )

        return answer_reply_link
