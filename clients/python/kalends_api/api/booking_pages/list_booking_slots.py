from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.booking_slots import BookingSlots
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    slug: str,
    *,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["from"] = from_

    params["to"] = to

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/book/{slug}/slots".format(
            slug=quote(str(slug), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> BookingSlots | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = BookingSlots.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[BookingSlots | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
) -> Response[BookingSlots | ErrorEnvelope]:
    """Lists the slots that a booking page offers right now.

     The answer covers the page's whole window, or the time between `from` and `to`. It contains the
    first 5,000 slots,
    and `next_from` if there are more. Anyone with the address can ask, without a key. The limit is 60
    requests per
    minute and address. If the page is not active or was deleted, the answer is 404. If the organization
    has used up the
    month's events, no slot is offered, and `notices` contains `booking_closed`.

    Args:
        slug (str):
        from_ (str | Unset):
        to (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BookingSlots | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        slug=slug,
        from_=from_,
        to=to,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
) -> BookingSlots | ErrorEnvelope | None:
    """Lists the slots that a booking page offers right now.

     The answer covers the page's whole window, or the time between `from` and `to`. It contains the
    first 5,000 slots,
    and `next_from` if there are more. Anyone with the address can ask, without a key. The limit is 60
    requests per
    minute and address. If the page is not active or was deleted, the answer is 404. If the organization
    has used up the
    month's events, no slot is offered, and `notices` contains `booking_closed`.

    Args:
        slug (str):
        from_ (str | Unset):
        to (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BookingSlots | ErrorEnvelope
    """

    return sync_detailed(
        slug=slug,
        client=client,
        from_=from_,
        to=to,
    ).parsed


async def asyncio_detailed(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
) -> Response[BookingSlots | ErrorEnvelope]:
    """Lists the slots that a booking page offers right now.

     The answer covers the page's whole window, or the time between `from` and `to`. It contains the
    first 5,000 slots,
    and `next_from` if there are more. Anyone with the address can ask, without a key. The limit is 60
    requests per
    minute and address. If the page is not active or was deleted, the answer is 404. If the organization
    has used up the
    month's events, no slot is offered, and `notices` contains `booking_closed`.

    Args:
        slug (str):
        from_ (str | Unset):
        to (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BookingSlots | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        slug=slug,
        from_=from_,
        to=to,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
) -> BookingSlots | ErrorEnvelope | None:
    """Lists the slots that a booking page offers right now.

     The answer covers the page's whole window, or the time between `from` and `to`. It contains the
    first 5,000 slots,
    and `next_from` if there are more. Anyone with the address can ask, without a key. The limit is 60
    requests per
    minute and address. If the page is not active or was deleted, the answer is 404. If the organization
    has used up the
    month's events, no slot is offered, and `notices` contains `booking_closed`.

    Args:
        slug (str):
        from_ (str | Unset):
        to (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BookingSlots | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            slug=slug,
            client=client,
            from_=from_,
            to=to,
        )
    ).parsed
