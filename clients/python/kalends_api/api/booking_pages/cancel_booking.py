from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.guest_booking import GuestBooking
from ...types import UNSET, Response, Unset


def _get_kwargs(
    slug: str,
    token: str,
    *,
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
        "url": "/book/{slug}/bookings/{token}/cancel".format(
            slug=quote(str(slug), safe=""),
            token=quote(str(token), safe=""),
        ),
        "params": params,
    }

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
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | GuestBooking]:
    """Cancels a booking, as its guest.

     The event is deleted and the guest gets an email. Repeating the request changes nothing and returns
    the same answer.
    If the event has started, the answer is 409 `conflict`, code `booking_over`. A booking can be
    cancelled even if its
    page is closed. If the request is a form, the answer is HTML.

    Args:
        slug (str):
        token (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | GuestBooking]
    """

    kwargs = _get_kwargs(
        slug=slug,
        token=token,
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
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | GuestBooking | None:
    """Cancels a booking, as its guest.

     The event is deleted and the guest gets an email. Repeating the request changes nothing and returns
    the same answer.
    If the event has started, the answer is 409 `conflict`, code `booking_over`. A booking can be
    cancelled even if its
    page is closed. If the request is a form, the answer is HTML.

    Args:
        slug (str):
        token (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

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
        lang=lang,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    slug: str,
    token: str,
    *,
    client: AuthenticatedClient | Client,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelope | GuestBooking]:
    """Cancels a booking, as its guest.

     The event is deleted and the guest gets an email. Repeating the request changes nothing and returns
    the same answer.
    If the event has started, the answer is 409 `conflict`, code `booking_over`. A booking can be
    cancelled even if its
    page is closed. If the request is a form, the answer is HTML.

    Args:
        slug (str):
        token (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | GuestBooking]
    """

    kwargs = _get_kwargs(
        slug=slug,
        token=token,
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
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelope | GuestBooking | None:
    """Cancels a booking, as its guest.

     The event is deleted and the guest gets an email. Repeating the request changes nothing and returns
    the same answer.
    If the event has started, the answer is 409 `conflict`, code `booking_over`. A booking can be
    cancelled even if its
    page is closed. If the request is a form, the answer is HTML.

    Args:
        slug (str):
        token (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

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
            lang=lang,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
