from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.delete_ical_subscription_events import DeleteIcalSubscriptionEvents
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    events: DeleteIcalSubscriptionEvents | Unset = DeleteIcalSubscriptionEvents.KEEP,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    params: dict[str, Any] = {}

    json_events: str | Unset = UNSET
    if not isinstance(events, Unset):
        json_events = events.value

    params["events"] = json_events

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/ical-subscriptions/{id}".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | AwaitsApproval | ErrorEnvelope:
    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | AwaitsApproval | ErrorEnvelope]:
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
    events: DeleteIcalSubscriptionEvents | Unset = DeleteIcalSubscriptionEvents.KEEP,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[Any | AwaitsApproval | ErrorEnvelope]:
    """Deletes an iCal subscription.

     Its imported events stay as they are and remain read-only. A new subscription of the same calendar
    to the same
    address takes them over. With `events=delete`, they are deleted too, right after the answer.

    Args:
        id (str):
        events (DeleteIcalSubscriptionEvents | Unset):  Default:
            DeleteIcalSubscriptionEvents.KEEP.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | AwaitsApproval | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        events=events,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        if_match=if_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    events: DeleteIcalSubscriptionEvents | Unset = DeleteIcalSubscriptionEvents.KEEP,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Any | AwaitsApproval | ErrorEnvelope | None:
    """Deletes an iCal subscription.

     Its imported events stay as they are and remain read-only. A new subscription of the same calendar
    to the same
    address takes them over. With `events=delete`, they are deleted too, right after the answer.

    Args:
        id (str):
        events (DeleteIcalSubscriptionEvents | Unset):  Default:
            DeleteIcalSubscriptionEvents.KEEP.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | AwaitsApproval | ErrorEnvelope
    """

    return sync_detailed(
        id=id,
        client=client,
        events=events,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    events: DeleteIcalSubscriptionEvents | Unset = DeleteIcalSubscriptionEvents.KEEP,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[Any | AwaitsApproval | ErrorEnvelope]:
    """Deletes an iCal subscription.

     Its imported events stay as they are and remain read-only. A new subscription of the same calendar
    to the same
    address takes them over. With `events=delete`, they are deleted too, right after the answer.

    Args:
        id (str):
        events (DeleteIcalSubscriptionEvents | Unset):  Default:
            DeleteIcalSubscriptionEvents.KEEP.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | AwaitsApproval | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        events=events,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    events: DeleteIcalSubscriptionEvents | Unset = DeleteIcalSubscriptionEvents.KEEP,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Any | AwaitsApproval | ErrorEnvelope | None:
    """Deletes an iCal subscription.

     Its imported events stay as they are and remain read-only. A new subscription of the same calendar
    to the same
    address takes them over. With `events=delete`, they are deleted too, right after the answer.

    Args:
        id (str):
        events (DeleteIcalSubscriptionEvents | Unset):  Default:
            DeleteIcalSubscriptionEvents.KEEP.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | AwaitsApproval | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            events=events,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
            if_match=if_match,
        )
    ).parsed
