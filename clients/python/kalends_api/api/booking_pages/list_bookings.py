import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.booking_status import BookingStatus
from ...models.error_envelope import ErrorEnvelope
from ...models.list_booking import ListBooking
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    status: BookingStatus | Unset = UNSET,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    json_start_after: str | Unset = UNSET
    if not isinstance(start_after, Unset):
        json_start_after = start_after.isoformat()
    params["start_after"] = json_start_after

    json_start_before: str | Unset = UNSET
    if not isinstance(start_before, Unset):
        json_start_before = start_before.isoformat()
    params["start_before"] = json_start_before

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/booking-pages/{id}/bookings".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | ListBooking:
    if response.status_code == 200:
        response_200 = ListBooking.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | ListBooking]:
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
    status: BookingStatus | Unset = UNSET,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListBooking]:
    """Lists the bookings of a page, by start.

     A booking has the times of its event as they are now. Cancelled bookings are listed too, with who
    cancelled them.

    Args:
        id (str):
        status (BookingStatus | Unset):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListBooking]
    """

    kwargs = _get_kwargs(
        id=id,
        status=status,
        start_after=start_after,
        start_before=start_before,
        limit=limit,
        offset=offset,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    status: BookingStatus | Unset = UNSET,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListBooking | None:
    """Lists the bookings of a page, by start.

     A booking has the times of its event as they are now. Cancelled bookings are listed too, with who
    cancelled them.

    Args:
        id (str):
        status (BookingStatus | Unset):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListBooking
    """

    return sync_detailed(
        id=id,
        client=client,
        status=status,
        start_after=start_after,
        start_before=start_before,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    status: BookingStatus | Unset = UNSET,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListBooking]:
    """Lists the bookings of a page, by start.

     A booking has the times of its event as they are now. Cancelled bookings are listed too, with who
    cancelled them.

    Args:
        id (str):
        status (BookingStatus | Unset):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListBooking]
    """

    kwargs = _get_kwargs(
        id=id,
        status=status,
        start_after=start_after,
        start_before=start_before,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    status: BookingStatus | Unset = UNSET,
    start_after: datetime.datetime | Unset = UNSET,
    start_before: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListBooking | None:
    """Lists the bookings of a page, by start.

     A booking has the times of its event as they are now. Cancelled bookings are listed too, with who
    cancelled them.

    Args:
        id (str):
        status (BookingStatus | Unset):
        start_after (datetime.datetime | Unset):
        start_before (datetime.datetime | Unset):
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListBooking
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            status=status,
            start_after=start_after,
            start_before=start_before,
            limit=limit,
            offset=offset,
        )
    ).parsed
