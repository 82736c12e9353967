from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.booked import Booked
from ...models.error_envelope import ErrorEnvelope
from ...models.submit_booking import SubmitBooking
from ...types import UNSET, Response, Unset


def _get_kwargs(
    slug: str,
    *,
    body: SubmitBooking,
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
        "url": "/book/{slug}".format(
            slug=quote(str(slug), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Booked | ErrorEnvelope:
    if response.status_code == 201:
        response_201 = Booked.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Booked | ErrorEnvelope]:
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
    body: SubmitBooking,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[Booked | ErrorEnvelope]:
    """Books a slot on a booking page.

     `start` must be the start of a slot that the page offers right now. If several guests want the same
    slot, one gets
    it. The others get 409 `conflict`, code `slot_taken`, with up to three other slots in
    `nearest_free`. If the time is
    not a slot of the page, or a required question is not answered, the answer is 400. The guest gets an
    email with an
    invitation. The answer contains links to cancel or move the booking. If the page's owner has used up
    the month's
    events, the answer is 429 `quota_exceeded`, code `booking_closed`. The limit is 10 requests per
    minute and address.

    If the same fields are sent as a form, with the answers as `answers[id]`, the answer is HTML.

    Args:
        slug (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (SubmitBooking): The fields of a guest's booking.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Booked | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        slug=slug,
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
    *,
    client: AuthenticatedClient | Client,
    body: SubmitBooking,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Booked | ErrorEnvelope | None:
    """Books a slot on a booking page.

     `start` must be the start of a slot that the page offers right now. If several guests want the same
    slot, one gets
    it. The others get 409 `conflict`, code `slot_taken`, with up to three other slots in
    `nearest_free`. If the time is
    not a slot of the page, or a required question is not answered, the answer is 400. The guest gets an
    email with an
    invitation. The answer contains links to cancel or move the booking. If the page's owner has used up
    the month's
    events, the answer is 429 `quota_exceeded`, code `booking_closed`. The limit is 10 requests per
    minute and address.

    If the same fields are sent as a form, with the answers as `answers[id]`, the answer is HTML.

    Args:
        slug (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (SubmitBooking): The fields of a guest's booking.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Booked | ErrorEnvelope
    """

    return sync_detailed(
        slug=slug,
        client=client,
        body=body,
        lang=lang,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    body: SubmitBooking,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[Booked | ErrorEnvelope]:
    """Books a slot on a booking page.

     `start` must be the start of a slot that the page offers right now. If several guests want the same
    slot, one gets
    it. The others get 409 `conflict`, code `slot_taken`, with up to three other slots in
    `nearest_free`. If the time is
    not a slot of the page, or a required question is not answered, the answer is 400. The guest gets an
    email with an
    invitation. The answer contains links to cancel or move the booking. If the page's owner has used up
    the month's
    events, the answer is 429 `quota_exceeded`, code `booking_closed`. The limit is 10 requests per
    minute and address.

    If the same fields are sent as a form, with the answers as `answers[id]`, the answer is HTML.

    Args:
        slug (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (SubmitBooking): The fields of a guest's booking.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Booked | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        slug=slug,
        body=body,
        lang=lang,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    slug: str,
    *,
    client: AuthenticatedClient | Client,
    body: SubmitBooking,
    lang: str | Unset = UNSET,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Booked | ErrorEnvelope | None:
    """Books a slot on a booking page.

     `start` must be the start of a slot that the page offers right now. If several guests want the same
    slot, one gets
    it. The others get 409 `conflict`, code `slot_taken`, with up to three other slots in
    `nearest_free`. If the time is
    not a slot of the page, or a required question is not answered, the answer is 400. The guest gets an
    email with an
    invitation. The answer contains links to cancel or move the booking. If the page's owner has used up
    the month's
    events, the answer is 429 `quota_exceeded`, code `booking_closed`. The limit is 10 requests per
    minute and address.

    If the same fields are sent as a form, with the answers as `answers[id]`, the answer is HTML.

    Args:
        slug (str):
        lang (str | Unset):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (SubmitBooking): The fields of a guest's booking.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Booked | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            slug=slug,
            client=client,
            body=body,
            lang=lang,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
