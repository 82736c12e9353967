from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.delivery_status import DeliveryStatus
from ..models.message_type import MessageType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.delivery_payload_type_0 import DeliveryPayloadType0


T = TypeVar("T", bound="Delivery")


@_attrs_define
class Delivery:
    """The delivery of one message to one endpoint.

    Attributes:
        attempts (int): The number of attempts.
        created_at (datetime.datetime): When the message was addressed to the endpoint.
        event_type (MessageType):
        id (str): The identifier, `whd_…`. It is the same in every attempt, as `X-Delivery-Id` and `webhook-id`.
        status (DeliveryStatus): The status of a delivery.
        last_attempt_at (datetime.datetime | None | Unset): When the last attempt ended. Null before the first one.
        next_retry_at (datetime.datetime | None | Unset): When the next attempt is due. Null unless the delivery is
            pending.
        payload (DeliveryPayloadType0 | None | Unset): The payload, if it was requested. Null if it is no longer stored.
        response_status (int | None | Unset): The HTTP status of the last answer. Null if there was none.
    """

    attempts: int
    created_at: datetime.datetime
    event_type: MessageType
    id: str
    status: DeliveryStatus
    last_attempt_at: datetime.datetime | None | Unset = UNSET
    next_retry_at: datetime.datetime | None | Unset = UNSET
    payload: DeliveryPayloadType0 | None | Unset = UNSET
    response_status: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.delivery_payload_type_0 import DeliveryPayloadType0

        attempts = self.attempts

        created_at = self.created_at.isoformat()

        event_type = self.event_type.value

        id = self.id

        status = self.status.value

        last_attempt_at: None | str | Unset
        if isinstance(self.last_attempt_at, Unset):
            last_attempt_at = UNSET
        elif isinstance(self.last_attempt_at, datetime.datetime):
            last_attempt_at = self.last_attempt_at.isoformat()
        else:
            last_attempt_at = self.last_attempt_at

        next_retry_at: None | str | Unset
        if isinstance(self.next_retry_at, Unset):
            next_retry_at = UNSET
        elif isinstance(self.next_retry_at, datetime.datetime):
            next_retry_at = self.next_retry_at.isoformat()
        else:
            next_retry_at = self.next_retry_at

        payload: dict[str, Any] | None | Unset
        if isinstance(self.payload, Unset):
            payload = UNSET
        elif isinstance(self.payload, DeliveryPayloadType0):
            payload = self.payload.to_dict()
        else:
            payload = self.payload

        response_status: int | None | Unset
        if isinstance(self.response_status, Unset):
            response_status = UNSET
        else:
            response_status = self.response_status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempts": attempts,
                "created_at": created_at,
                "event_type": event_type,
                "id": id,
                "status": status,
            }
        )
        if last_attempt_at is not UNSET:
            field_dict["last_attempt_at"] = last_attempt_at
        if next_retry_at is not UNSET:
            field_dict["next_retry_at"] = next_retry_at
        if payload is not UNSET:
            field_dict["payload"] = payload
        if response_status is not UNSET:
            field_dict["response_status"] = response_status

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.delivery_payload_type_0 import DeliveryPayloadType0

        d = dict(src_dict)
        attempts = d.pop("attempts")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        event_type = MessageType(d.pop("event_type"))

        id = d.pop("id")

        status = DeliveryStatus(d.pop("status"))

        def _parse_last_attempt_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_attempt_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        last_attempt_at = _parse_last_attempt_at(d.pop("last_attempt_at", UNSET))

        def _parse_next_retry_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_retry_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_retry_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        next_retry_at = _parse_next_retry_at(d.pop("next_retry_at", UNSET))

        def _parse_payload(data: object) -> DeliveryPayloadType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                payload_type_0 = DeliveryPayloadType0.from_dict(data)

                return payload_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeliveryPayloadType0 | None | Unset, data)

        payload = _parse_payload(d.pop("payload", UNSET))

        def _parse_response_status(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        response_status = _parse_response_status(d.pop("response_status", UNSET))

        delivery = cls(
            attempts=attempts,
            created_at=created_at,
            event_type=event_type,
            id=id,
            status=status,
            last_attempt_at=last_attempt_at,
            next_retry_at=next_retry_at,
            payload=payload,
            response_status=response_status,
        )

        delivery.additional_properties = d
        return delivery

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
