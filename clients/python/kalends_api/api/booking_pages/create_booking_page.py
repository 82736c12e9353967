from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.booking_page import BookingPage
from ...models.create_booking_page import CreateBookingPage
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/booking-pages",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | BookingPage | ErrorEnvelope:
    if response.status_code == 201:
        response_201 = BookingPage.from_dict(response.json())

        return response_201

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
    *,
    client: AuthenticatedClient,
    body: CreateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | BookingPage | ErrorEnvelope]:
    """Creates a booking page for a calendar.

     Guests book at `booking_url`. Anyone who has it can see which slots are free, and nothing else on
    the calendar.
    Slots follow the clock in `timezone`. On each date, they start at the beginning of its
    `availability_constraints`,
    or at midnight, and follow one another without gaps. None of them is shortened. A slot is offered if
    it starts
    between `min_notice_minutes` and `window_days` from now and nothing blocks it, including
    `buffer_minutes` on both
    sides and the calendar's availability rules. If the plan's number of pages is exceeded, the answer
    is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateBookingPage): The fields of a new booking page.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | BookingPage | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: CreateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | BookingPage | ErrorEnvelope | None:
    """Creates a booking page for a calendar.

     Guests book at `booking_url`. Anyone who has it can see which slots are free, and nothing else on
    the calendar.
    Slots follow the clock in `timezone`. On each date, they start at the beginning of its
    `availability_constraints`,
    or at midnight, and follow one another without gaps. None of them is shortened. A slot is offered if
    it starts
    between `min_notice_minutes` and `window_days` from now and nothing blocks it, including
    `buffer_minutes` on both
    sides and the calendar's availability rules. If the plan's number of pages is exceeded, the answer
    is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateBookingPage): The fields of a new booking page.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | BookingPage | ErrorEnvelope
    """

    return sync_detailed(
        client=client,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | BookingPage | ErrorEnvelope]:
    """Creates a booking page for a calendar.

     Guests book at `booking_url`. Anyone who has it can see which slots are free, and nothing else on
    the calendar.
    Slots follow the clock in `timezone`. On each date, they start at the beginning of its
    `availability_constraints`,
    or at midnight, and follow one another without gaps. None of them is shortened. A slot is offered if
    it starts
    between `min_notice_minutes` and `window_days` from now and nothing blocks it, including
    `buffer_minutes` on both
    sides and the calendar's availability rules. If the plan's number of pages is exceeded, the answer
    is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateBookingPage): The fields of a new booking page.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | BookingPage | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateBookingPage,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | BookingPage | ErrorEnvelope | None:
    """Creates a booking page for a calendar.

     Guests book at `booking_url`. Anyone who has it can see which slots are free, and nothing else on
    the calendar.
    Slots follow the clock in `timezone`. On each date, they start at the beginning of its
    `availability_constraints`,
    or at midnight, and follow one another without gaps. None of them is shortened. A slot is offered if
    it starts
    between `min_notice_minutes` and `window_days` from now and nothing blocks it, including
    `buffer_minutes` on both
    sides and the calendar's availability rules. If the plan's number of pages is exceeded, the answer
    is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateBookingPage): The fields of a new booking page.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | BookingPage | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
