from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.calendar import Calendar
from ...models.create_calendar import CreateCalendar
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateCalendar,
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
        "url": "/v1/calendars",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Calendar | ErrorEnvelope:
    if response.status_code == 201:
        response_201 = Calendar.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Calendar | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateCalendar,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calendar | ErrorEnvelope]:
    """Creates a calendar that the organization shares.

     It belongs to no agent. If the plan's number of calendars is exceeded, the answer is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateCalendar): The fields of a new calendar.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Calendar | ErrorEnvelope]
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
    body: CreateCalendar,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Calendar | ErrorEnvelope | None:
    """Creates a calendar that the organization shares.

     It belongs to no agent. If the plan's number of calendars is exceeded, the answer is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateCalendar): The fields of a new calendar.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Calendar | ErrorEnvelope
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
    body: CreateCalendar,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calendar | ErrorEnvelope]:
    """Creates a calendar that the organization shares.

     It belongs to no agent. If the plan's number of calendars is exceeded, the answer is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateCalendar): The fields of a new calendar.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Calendar | ErrorEnvelope]
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
    body: CreateCalendar,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Calendar | ErrorEnvelope | None:
    """Creates a calendar that the organization shares.

     It belongs to no agent. If the plan's number of calendars is exceeded, the answer is 429
    `quota_exceeded`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateCalendar): The fields of a new calendar.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Calendar | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
