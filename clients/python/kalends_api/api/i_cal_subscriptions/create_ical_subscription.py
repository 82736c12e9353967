from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.create_subscription import CreateSubscription
from ...models.error_envelope import ErrorEnvelope
from ...models.subscription import Subscription
from ...types import UNSET, Response, Unset


def _get_kwargs(
    agent_id: str,
    *,
    body: CreateSubscription,
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
        "url": "/v1/agents/{agent_id}/ical-subscriptions".format(
            agent_id=quote(str(agent_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | Subscription:
    if response.status_code == 201:
        response_201 = Subscription.from_dict(response.json())

        return response_201

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | ErrorEnvelope | Subscription]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    agent_id: str,
    *,
    client: AuthenticatedClient,
    body: CreateSubscription,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Subscription]:
    """Subscribes a calendar to an iCal feed.

     The feed's events are imported as read-only events that block availability, first at once and then
    every 15
    minutes. Events that change in the feed change here, and events that are missing from it are deleted
    here. They
    emit no webhook events and count only as `imported_events`. A sync that would exceed this limit
    imports nothing
    and reports it in `last_error`. If a feed shrinks by more than half, it is fetched again after 5
    minutes before
    anything is deleted.

    With `busy_only`, only the times of the events are imported, each with the title `Busy`.

    Events that an earlier subscription of the calendar to the same `url` left behind are taken over. If
    the calendar is
    subscribed to the feed already, the answer is 409 `conflict`, code `already_subscribed`. If the
    plan's number of
    subscriptions is exceeded, it is 429 `quota_exceeded`.

    Args:
        agent_id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateSubscription): The fields of a new subscription.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Subscription]
    """

    kwargs = _get_kwargs(
        agent_id=agent_id,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    agent_id: str,
    *,
    client: AuthenticatedClient,
    body: CreateSubscription,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Subscription | None:
    """Subscribes a calendar to an iCal feed.

     The feed's events are imported as read-only events that block availability, first at once and then
    every 15
    minutes. Events that change in the feed change here, and events that are missing from it are deleted
    here. They
    emit no webhook events and count only as `imported_events`. A sync that would exceed this limit
    imports nothing
    and reports it in `last_error`. If a feed shrinks by more than half, it is fetched again after 5
    minutes before
    anything is deleted.

    With `busy_only`, only the times of the events are imported, each with the title `Busy`.

    Events that an earlier subscription of the calendar to the same `url` left behind are taken over. If
    the calendar is
    subscribed to the feed already, the answer is 409 `conflict`, code `already_subscribed`. If the
    plan's number of
    subscriptions is exceeded, it is 429 `quota_exceeded`.

    Args:
        agent_id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateSubscription): The fields of a new subscription.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Subscription
    """

    return sync_detailed(
        agent_id=agent_id,
        client=client,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    agent_id: str,
    *,
    client: AuthenticatedClient,
    body: CreateSubscription,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Subscription]:
    """Subscribes a calendar to an iCal feed.

     The feed's events are imported as read-only events that block availability, first at once and then
    every 15
    minutes. Events that change in the feed change here, and events that are missing from it are deleted
    here. They
    emit no webhook events and count only as `imported_events`. A sync that would exceed this limit
    imports nothing
    and reports it in `last_error`. If a feed shrinks by more than half, it is fetched again after 5
    minutes before
    anything is deleted.

    With `busy_only`, only the times of the events are imported, each with the title `Busy`.

    Events that an earlier subscription of the calendar to the same `url` left behind are taken over. If
    the calendar is
    subscribed to the feed already, the answer is 409 `conflict`, code `already_subscribed`. If the
    plan's number of
    subscriptions is exceeded, it is 429 `quota_exceeded`.

    Args:
        agent_id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateSubscription): The fields of a new subscription.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Subscription]
    """

    kwargs = _get_kwargs(
        agent_id=agent_id,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    agent_id: str,
    *,
    client: AuthenticatedClient,
    body: CreateSubscription,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Subscription | None:
    """Subscribes a calendar to an iCal feed.

     The feed's events are imported as read-only events that block availability, first at once and then
    every 15
    minutes. Events that change in the feed change here, and events that are missing from it are deleted
    here. They
    emit no webhook events and count only as `imported_events`. A sync that would exceed this limit
    imports nothing
    and reports it in `last_error`. If a feed shrinks by more than half, it is fetched again after 5
    minutes before
    anything is deleted.

    With `busy_only`, only the times of the events are imported, each with the title `Busy`.

    Events that an earlier subscription of the calendar to the same `url` left behind are taken over. If
    the calendar is
    subscribed to the feed already, the answer is 409 `conflict`, code `already_subscribed`. If the
    plan's number of
    subscriptions is exceeded, it is 429 `quota_exceeded`.

    Args:
        agent_id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (CreateSubscription): The fields of a new subscription.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Subscription
    """

    return (
        await asyncio_detailed(
            agent_id=agent_id,
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
