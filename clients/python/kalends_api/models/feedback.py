from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.feedback_type import FeedbackType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.feedback_context_type_0 import FeedbackContextType0


T = TypeVar("T", bound="Feedback")


@_attrs_define
class Feedback:
    """Feedback to the operator of the service.

    Attributes:
        message (str): The message, 10-2000 characters. Must not be blank or contain NUL.
        type_ (FeedbackType): The type of feedback.
        context (FeedbackContextType0 | None | Unset): Additional data, at most 16 KiB. Conventional keys are
            `sdk_name`, `sdk_version`, `endpoint`, `request_id`,
            `error_type` and `http_status`.
    """

    message: str
    type_: FeedbackType
    context: FeedbackContextType0 | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.feedback_context_type_0 import FeedbackContextType0

        message = self.message

        type_ = self.type_.value

        context: dict[str, Any] | None | Unset
        if isinstance(self.context, Unset):
            context = UNSET
        elif isinstance(self.context, FeedbackContextType0):
            context = self.context.to_dict()
        else:
            context = self.context

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "message": message,
                "type": type_,
            }
        )
        if context is not UNSET:
            field_dict["context"] = context

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.feedback_context_type_0 import FeedbackContextType0

        d = dict(src_dict)
        message = d.pop("message")

        type_ = FeedbackType(d.pop("type"))

        def _parse_context(data: object) -> FeedbackContextType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                context_type_0 = FeedbackContextType0.from_dict(data)

                return context_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FeedbackContextType0 | None | Unset, data)

        context = _parse_context(d.pop("context", UNSET))

        feedback = cls(
            message=message,
            type_=type_,
            context=context,
        )

        return feedback
