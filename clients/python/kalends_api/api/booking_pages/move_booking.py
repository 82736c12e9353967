from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.guest_booking import GuestBooking
from ...models.move_booking import MoveBooking
from ...types import UNSET, Response, Unset


def _get_kwargs(
    slug: str,
    token: str,
    *,
    body: MoveBooking,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["lang"] = lang

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/book/{slug}/bookings/{token}/move".format(
            slug=quote(str(slug), safe=""),
            token=quote(str(token), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | GuestBooking:
    if response.status_code == 200:
        response_200 = GuestBooking.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | GuestBooking]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    slug: str,
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: MoveBooking,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | GuestBooking]:
    """Moves a booking to another slot, as its guest.

     The same rules apply as for a new booking: if the slot is taken, the answer is 409 `slot_taken`, and
    if the time is
    not a slot of the page, it is 400. The booking's own time does not block it. The guest gets an
    email, and both links
    stay valid. If the event has started or was cancelled, the answer is 409 `conflict`, code
    `booking_over`. If the
    page is closed, it is 404.

    Args:
        slug (str):
        token (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (MoveBooking): The slot to move a booking to.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | GuestBooking]
    """

    kwargs = _get_kwargs(
        slug=slug,
        token=token,
        body=body,
        lang=lang,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    slug: str,
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: MoveBooking,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | GuestBooking | None:
    """Moves a booking to another slot, as its guest.

     The same rules apply as for a new booking: if the slot is taken, the answer is 409 `slot_taken`, and
    if the time is
    not a slot of the page, it is 400. The booking's own time does not block it. The guest gets an
    email, and both links
    stay valid. If the event has started or was cancelled, the answer is 409 `conflict`, code
    `booking_over`. If the
    page is closed, it is 404.

    Args:
        slug (str):
        token (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (MoveBooking): The slot to move a booking to.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | GuestBooking
    """

    return sync_detailed(
        slug=slug,
        token=token,
        client=client,
        body=body,
        lang=lang,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    slug: str,
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: MoveBooking,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | GuestBooking]:
    """Moves a booking to another slot, as its guest.

     The same rules apply as for a new booking: if the slot is taken, the answer is 409 `slot_taken`, and
    if the time is
    not a slot of the page, it is 400. The booking's own time does not block it. The guest gets an
    email, and both links
    stay valid. If the event has started or was cancelled, the answer is 409 `conflict`, code
    `booking_over`. If the
    page is closed, it is 404.

    Args:
        slug (str):
        token (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (MoveBooking): The slot to move a booking to.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | GuestBooking]
    """

    kwargs = _get_kwargs(
        slug=slug,
        token=token,
        body=body,
        lang=lang,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    slug: str,
    token: str,
    *,
    client: AuthenticatedClient | Client,
    body: MoveBooking,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | GuestBooking | None:
    """Moves a booking to another slot, as its guest.

     The same rules apply as for a new booking: if the slot is taken, the answer is 409 `slot_taken`, and
    if the time is
    not a slot of the page, it is 400. The booking's own time does not block it. The guest gets an
    email, and both links
    stay valid. If the event has started or was cancelled, the answer is 409 `conflict`, code
    `booking_over`. If the
    page is closed, it is 404.

    Args:
        slug (str):
        token (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (MoveBooking): The slot to move a booking to.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | GuestBooking
    """

    return (
        await asyncio_detailed(
            slug=slug,
            token=token,
            client=client,
            body=body,
            lang=lang,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
