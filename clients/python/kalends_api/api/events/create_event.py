from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.create_event import CreateEvent
from ...models.error_envelope import ErrorEnvelope
from ...models.event import Event
from ...types import UNSET, Response, Unset


def _get_kwargs(
    cal_id: str,
    *,
    body: CreateEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(kalends_run, Unset):
        headers["Kalends-Run"] = kalends_run

    params: dict[str, Any] = {}

    params["local"] = local

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/calendars/{cal_id}/events".format(
            cal_id=quote(str(cal_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | Event:
    if response.status_code == 201:
        response_201 = Event.from_dict(response.json())

        return response_201

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    cal_id: str,
    *,
    client: AuthenticatedClient,
    body: CreateEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
    """Creates an event.

     Events may overlap, unless `if_free` is set or the calendar refuses conflicts. In that case, the
    answer is 409
    `conflict`, code `slot_taken`, if something blocks the time. Emits `event.created`. If the plan's
    events of the month
    are used up, the answer is 429 `quota_exceeded`.

    Args:
        cal_id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateEvent): The fields of a new event.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        cal_id=cal_id,
        body=body,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    cal_id: str,
    *,
    client: AuthenticatedClient,
    body: CreateEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Event | None:
    """Creates an event.

     Events may overlap, unless `if_free` is set or the calendar refuses conflicts. In that case, the
    answer is 409
    `conflict`, code `slot_taken`, if something blocks the time. Emits `event.created`. If the plan's
    events of the month
    are used up, the answer is 429 `quota_exceeded`.

    Args:
        cal_id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateEvent): The fields of a new event.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Event
    """

    return sync_detailed(
        cal_id=cal_id,
        client=client,
        body=body,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    ).parsed


async def asyncio_detailed(
    cal_id: str,
    *,
    client: AuthenticatedClient,
    body: CreateEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
    """Creates an event.

     Events may overlap, unless `if_free` is set or the calendar refuses conflicts. In that case, the
    answer is 409
    `conflict`, code `slot_taken`, if something blocks the time. Emits `event.created`. If the plan's
    events of the month
    are used up, the answer is 429 `quota_exceeded`.

    Args:
        cal_id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateEvent): The fields of a new event.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        cal_id=cal_id,
        body=body,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    cal_id: str,
    *,
    client: AuthenticatedClient,
    body: CreateEvent,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Event | None:
    """Creates an event.

     Events may overlap, unless `if_free` is set or the calendar refuses conflicts. In that case, the
    answer is 409
    `conflict`, code `slot_taken`, if something blocks the time. Emits `event.created`. If the plan's
    events of the month
    are used up, the answer is 429 `quota_exceeded`.

    Args:
        cal_id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateEvent): The fields of a new event.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Event
    """

    return (
        await asyncio_detailed(
            cal_id=cal_id,
            client=client,
            body=body,
            local=local,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
            kalends_run=kalends_run,
        )
    ).parsed
