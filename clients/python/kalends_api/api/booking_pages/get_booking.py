from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.guest_booking import GuestBooking
from ...types import Response


def _get_kwargs(
    slug: str,
    token: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/book/{slug}/bookings/{token}".format(
            slug=quote(str(slug), safe=""),
            token=quote(str(token), safe=""),
        ),
    }

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
) -> Response[ErrorEnvelope | GuestBooking]:
    """Returns a booking to its guest.

     `token` is the token of `cancel_url` or of `reschedule_url`. The event is returned as it is now: if
    its owner
    moves or deletes it in the calendar, the booking is moved or cancelled.

    Args:
        slug (str):
        token (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | GuestBooking]
    """

    kwargs = _get_kwargs(
        slug=slug,
        token=token,
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
) -> ErrorEnvelope | GuestBooking | None:
    """Returns a booking to its guest.

     `token` is the token of `cancel_url` or of `reschedule_url`. The event is returned as it is now: if
    its owner
    moves or deletes it in the calendar, the booking is moved or cancelled.

    Args:
        slug (str):
        token (str):

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
    ).parsed


async def asyncio_detailed(
    slug: str,
    token: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[ErrorEnvelope | GuestBooking]:
    """Returns a booking to its guest.

     `token` is the token of `cancel_url` or of `reschedule_url`. The event is returned as it is now: if
    its owner
    moves or deletes it in the calendar, the booking is moved or cancelled.

    Args:
        slug (str):
        token (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | GuestBooking]
    """

    kwargs = _get_kwargs(
        slug=slug,
        token=token,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    slug: str,
    token: str,
    *,
    client: AuthenticatedClient | Client,
) -> ErrorEnvelope | GuestBooking | None:
    """Returns a booking to its guest.

     `token` is the token of `cancel_url` or of `reschedule_url`. The event is returned as it is now: if
    its owner
    moves or deletes it in the calendar, the booking is moved or cancelled.

    Args:
        slug (str):
        token (str):

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
        )
    ).parsed
