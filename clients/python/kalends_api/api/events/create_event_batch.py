from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.create_event_batch import CreateEventBatch
from ...models.error_envelope import ErrorEnvelope
from ...models.event_batch import EventBatch
from ...types import UNSET, Response, Unset


def _get_kwargs(
    cal_id: str,
    *,
    body: CreateEventBatch,
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
        "url": "/v1/calendars/{cal_id}/events/batch".format(
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
) -> AwaitsApproval | ErrorEnvelope | EventBatch:
    if response.status_code == 201:
        response_201 = EventBatch.from_dict(response.json())

        return response_201

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | ErrorEnvelope | EventBatch]:
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
    body: CreateEventBatch,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | EventBatch]:
    """Creates up to 100 events. Either all of them are created or none.

     Each event emits `event.created` and counts as one event. If the time of one must be free and is
    not, the answer is
    409 `conflict`, code `slot_taken`, and `param` names the event.

    Args:
        cal_id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateEventBatch): Up to 100 events. Either all of them are created or none.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | EventBatch]
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
    body: CreateEventBatch,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | EventBatch | None:
    """Creates up to 100 events. Either all of them are created or none.

     Each event emits `event.created` and counts as one event. If the time of one must be free and is
    not, the answer is
    409 `conflict`, code `slot_taken`, and `param` names the event.

    Args:
        cal_id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateEventBatch): Up to 100 events. Either all of them are created or none.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | EventBatch
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
    body: CreateEventBatch,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | EventBatch]:
    """Creates up to 100 events. Either all of them are created or none.

     Each event emits `event.created` and counts as one event. If the time of one must be free and is
    not, the answer is
    409 `conflict`, code `slot_taken`, and `param` names the event.

    Args:
        cal_id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateEventBatch): Up to 100 events. Either all of them are created or none.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | EventBatch]
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
    body: CreateEventBatch,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | EventBatch | None:
    """Creates up to 100 events. Either all of them are created or none.

     Each event emits `event.created` and counts as one event. If the time of one must be free and is
    not, the answer is
    409 `conflict`, code `slot_taken`, and `param` names the event.

    Args:
        cal_id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateEventBatch): Up to 100 events. Either all of them are created or none.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | EventBatch
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
