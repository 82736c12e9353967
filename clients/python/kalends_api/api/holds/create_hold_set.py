from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.create_hold_set import CreateHoldSet
from ...models.error_envelope import ErrorEnvelope
from ...models.hold_set import HoldSet
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateHoldSet,
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
        "url": "/v1/hold-sets",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | HoldSet:
    if response.status_code == 201:
        response_201 = HoldSet.from_dict(response.json())

        return response_201

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | ErrorEnvelope | HoldSet]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateHoldSet,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | HoldSet]:
    """Places a hold on each of several calendars. Either all of them are placed or none.

     An agent in `agent_ids` must have exactly one calendar, and gets the hold there. With the scope
    `holds:org`, an
    agent's key places holds of priority 0 on any calendar of the organization. At most 20 of them are
    live at a time on
    calendars of others; another one is 409 `conflict`, code `too_many_placed_holds`. Calendars of
    others are shown as
    busy only.

    If anything but a hold of a lower priority blocks one of the calendars, the answer is 409
    `conflict`, code
    `slot_taken`. The error lists everything that blocks in `conflicts`, and the three nearest times
    that are free on
    all calendars in `nearest_free`. Each hold emits `event.hold_created` and counts as one event.
    Requires a paid plan.

    Args:
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateHoldSet): The fields of a new hold set. Either all of its holds are placed or
            none.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | HoldSet]
    """

    kwargs = _get_kwargs(
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
    *,
    client: AuthenticatedClient,
    body: CreateHoldSet,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | HoldSet | None:
    """Places a hold on each of several calendars. Either all of them are placed or none.

     An agent in `agent_ids` must have exactly one calendar, and gets the hold there. With the scope
    `holds:org`, an
    agent's key places holds of priority 0 on any calendar of the organization. At most 20 of them are
    live at a time on
    calendars of others; another one is 409 `conflict`, code `too_many_placed_holds`. Calendars of
    others are shown as
    busy only.

    If anything but a hold of a lower priority blocks one of the calendars, the answer is 409
    `conflict`, code
    `slot_taken`. The error lists everything that blocks in `conflicts`, and the three nearest times
    that are free on
    all calendars in `nearest_free`. Each hold emits `event.hold_created` and counts as one event.
    Requires a paid plan.

    Args:
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateHoldSet): The fields of a new hold set. Either all of its holds are placed or
            none.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | HoldSet
    """

    return sync_detailed(
        client=client,
        body=body,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateHoldSet,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | HoldSet]:
    """Places a hold on each of several calendars. Either all of them are placed or none.

     An agent in `agent_ids` must have exactly one calendar, and gets the hold there. With the scope
    `holds:org`, an
    agent's key places holds of priority 0 on any calendar of the organization. At most 20 of them are
    live at a time on
    calendars of others; another one is 409 `conflict`, code `too_many_placed_holds`. Calendars of
    others are shown as
    busy only.

    If anything but a hold of a lower priority blocks one of the calendars, the answer is 409
    `conflict`, code
    `slot_taken`. The error lists everything that blocks in `conflicts`, and the three nearest times
    that are free on
    all calendars in `nearest_free`. Each hold emits `event.hold_created` and counts as one event.
    Requires a paid plan.

    Args:
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateHoldSet): The fields of a new hold set. Either all of its holds are placed or
            none.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | HoldSet]
    """

    kwargs = _get_kwargs(
        body=body,
        local=local,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateHoldSet,
    local: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | HoldSet | None:
    """Places a hold on each of several calendars. Either all of them are placed or none.

     An agent in `agent_ids` must have exactly one calendar, and gets the hold there. With the scope
    `holds:org`, an
    agent's key places holds of priority 0 on any calendar of the organization. At most 20 of them are
    live at a time on
    calendars of others; another one is 409 `conflict`, code `too_many_placed_holds`. Calendars of
    others are shown as
    busy only.

    If anything but a hold of a lower priority blocks one of the calendars, the answer is 409
    `conflict`, code
    `slot_taken`. The error lists everything that blocks in `conflicts`, and the three nearest times
    that are free on
    all calendars in `nearest_free`. Each hold emits `event.hold_created` and counts as one event.
    Requires a paid plan.

    Args:
        local (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateHoldSet): The fields of a new hold set. Either all of its holds are placed or
            none.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | HoldSet
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            local=local,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
            kalends_run=kalends_run,
        )
    ).parsed
