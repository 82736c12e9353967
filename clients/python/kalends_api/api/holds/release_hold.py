from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.error_envelope import ErrorEnvelope
from ...models.event import Event
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
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
        "method": "put",
        "url": "/v1/events/{id}/release".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | Event:
    if response.status_code == 200:
        response_200 = Event.from_dict(response.json())

        return response_200

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
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
    """Releases a hold.

     The hold becomes a cancelled event, and its time is free. If the event is not an active hold, the
    answer is 409
    `conflict`, with code `hold_expired` if the hold expired and `not_a_hold` otherwise. Emits
    `event.hold_released`.
    Requires a paid plan.

    Args:
        id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        id=id,
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
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Event | None:
    """Releases a hold.

     The hold becomes a cancelled event, and its time is free. If the event is not an active hold, the
    answer is 409
    `conflict`, with code `hold_expired` if the hold expired and `not_a_hold` otherwise. Emits
    `event.hold_released`.
    Requires a paid plan.

    Args:
        id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Event
    """

    return sync_detailed(
        id=id,
        client=client,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Event]:
    """Releases a hold.

     The hold becomes a cancelled event, and its time is free. If the event is not an active hold, the
    answer is 409
    `conflict`, with code `hold_expired` if the hold expired and `not_a_hold` otherwise. Emits
    `event.hold_released`.
    Requires a paid plan.

    Args:
        id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        id=id,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Event | None:
    """Releases a hold.

     The hold becomes a cancelled event, and its time is free. If the event is not an active hold, the
    answer is 409
    `conflict`, with code `hold_expired` if the hold expired and `not_a_hold` otherwise. Emits
    `event.hold_released`.
    Requires a paid plan.

    Args:
        id (str):
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Event
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            local=local,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
            kalends_run=kalends_run,
        )
    ).parsed
