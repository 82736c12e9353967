import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.audit_action import AuditAction
from ...models.audit_log import AuditLog
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    action: AuditAction | Unset = UNSET,
    actor_key_prefix: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    json_to: str | Unset = UNSET
    if not isinstance(to, Unset):
        json_to = to.isoformat()
    params["to"] = json_to

    json_action: str | Unset = UNSET
    if not isinstance(action, Unset):
        json_action = action.value

    params["action"] = json_action

    params["actor_key_prefix"] = actor_key_prefix

    params["agent_id"] = agent_id

    params["cursor"] = cursor

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/audit-log",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AuditLog | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = AuditLog.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AuditLog | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    action: AuditAction | Unset = UNSET,
    actor_key_prefix: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[AuditLog | ErrorEnvelope]:
    """Lists the audit log, newest entry first.

     Only for keys of the organization. The log goes back as many days as the plan retains
    (`retention_days`; null
    means forever). If `from` is older, the range starts at the oldest retained entry, and
    `range_clamped` is true. To
    continue, send `next_cursor` as `cursor` with the same filters until it is null. Failures because of
    authentication or rate limits are sampled: at most one per minute, key and action.

    Args:
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        action (AuditAction | Unset):
        actor_key_prefix (str | Unset):
        agent_id (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditLog | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        action=action,
        actor_key_prefix=actor_key_prefix,
        agent_id=agent_id,
        cursor=cursor,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    action: AuditAction | Unset = UNSET,
    actor_key_prefix: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> AuditLog | ErrorEnvelope | None:
    """Lists the audit log, newest entry first.

     Only for keys of the organization. The log goes back as many days as the plan retains
    (`retention_days`; null
    means forever). If `from` is older, the range starts at the oldest retained entry, and
    `range_clamped` is true. To
    continue, send `next_cursor` as `cursor` with the same filters until it is null. Failures because of
    authentication or rate limits are sampled: at most one per minute, key and action.

    Args:
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        action (AuditAction | Unset):
        actor_key_prefix (str | Unset):
        agent_id (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditLog | ErrorEnvelope
    """

    return sync_detailed(
        client=client,
        from_=from_,
        to=to,
        action=action,
        actor_key_prefix=actor_key_prefix,
        agent_id=agent_id,
        cursor=cursor,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    action: AuditAction | Unset = UNSET,
    actor_key_prefix: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[AuditLog | ErrorEnvelope]:
    """Lists the audit log, newest entry first.

     Only for keys of the organization. The log goes back as many days as the plan retains
    (`retention_days`; null
    means forever). If `from` is older, the range starts at the oldest retained entry, and
    `range_clamped` is true. To
    continue, send `next_cursor` as `cursor` with the same filters until it is null. Failures because of
    authentication or rate limits are sampled: at most one per minute, key and action.

    Args:
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        action (AuditAction | Unset):
        actor_key_prefix (str | Unset):
        agent_id (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditLog | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        action=action,
        actor_key_prefix=actor_key_prefix,
        agent_id=agent_id,
        cursor=cursor,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    action: AuditAction | Unset = UNSET,
    actor_key_prefix: str | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> AuditLog | ErrorEnvelope | None:
    """Lists the audit log, newest entry first.

     Only for keys of the organization. The log goes back as many days as the plan retains
    (`retention_days`; null
    means forever). If `from` is older, the range starts at the oldest retained entry, and
    `range_clamped` is true. To
    continue, send `next_cursor` as `cursor` with the same filters until it is null. Failures because of
    authentication or rate limits are sampled: at most one per minute, key and action.

    Args:
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        action (AuditAction | Unset):
        actor_key_prefix (str | Unset):
        agent_id (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditLog | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            client=client,
            from_=from_,
            to=to,
            action=action,
            actor_key_prefix=actor_key_prefix,
            agent_id=agent_id,
            cursor=cursor,
            limit=limit,
        )
    ).parsed
