from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.booking_page import BookingPage
from ...models.error_envelope import ErrorEnvelope
from ...models.update_booking_page import UpdateBookingPage
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: UpdateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    params: dict[str, Any] = {}

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/booking-pages/{id}".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | BookingPage | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = BookingPage.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | BookingPage | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[AwaitsApproval | BookingPage | ErrorEnvelope]:
    """Changes a booking page.

     Every field except `calendar_id` can change. Existing bookings stay as they are. If a page is not
    `active`, it
    answers 404 to guests, except for their existing bookings.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        if_match (str | Unset):
        body (UpdateBookingPage): The fields of a booking page that a PATCH can change. At least
            one is required.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | BookingPage | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        if_match=if_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> AwaitsApproval | BookingPage | ErrorEnvelope | None:
    """Changes a booking page.

     Every field except `calendar_id` can change. Existing bookings stay as they are. If a page is not
    `active`, it
    answers 404 to guests, except for their existing bookings.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        if_match (str | Unset):
        body (UpdateBookingPage): The fields of a booking page that a PATCH can change. At least
            one is required.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | BookingPage | ErrorEnvelope
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[AwaitsApproval | BookingPage | ErrorEnvelope]:
    """Changes a booking page.

     Every field except `calendar_id` can change. Existing bookings stay as they are. If a page is not
    `active`, it
    answers 404 to guests, except for their existing bookings.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        if_match (str | Unset):
        body (UpdateBookingPage): The fields of a booking page that a PATCH can change. At least
            one is required.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | BookingPage | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> AwaitsApproval | BookingPage | ErrorEnvelope | None:
    """Changes a booking page.

     Every field except `calendar_id` can change. Existing bookings stay as they are. If a page is not
    `active`, it
    answers 404 to guests, except for their existing bookings.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        if_match (str | Unset):
        body (UpdateBookingPage): The fields of a booking page that a PATCH can change. At least
            one is required.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | BookingPage | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
            if_match=if_match,
        )
    ).parsed
