from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.agent_status import AgentStatus
from ...models.agent_type import AgentType
from ...models.error_envelope import ErrorEnvelope
from ...models.list_shown_agent import ListShownAgent
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    type_: AgentType | Unset = UNSET,
    status: AgentStatus | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_.value

    params["type"] = json_type_

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/agents",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | ListShownAgent:
    if response.status_code == 200:
        response_200 = ListShownAgent.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | ListShownAgent]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    type_: AgentType | Unset = UNSET,
    status: AgentStatus | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListShownAgent]:
    """Lists agents, oldest first.

     Decommissioned agents stay in the list, with their status. An agent's key with the scope
    `directory:org` sees its
    own agent, and of the others only id, name and status. It cannot select them by `type`.

    Args:
        type_ (AgentType | Unset): The kind of an agent.
        status (AgentStatus | Unset): The status of an agent.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListShownAgent]
    """

    kwargs = _get_kwargs(
        type_=type_,
        status=status,
        limit=limit,
        offset=offset,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    type_: AgentType | Unset = UNSET,
    status: AgentStatus | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListShownAgent | None:
    """Lists agents, oldest first.

     Decommissioned agents stay in the list, with their status. An agent's key with the scope
    `directory:org` sees its
    own agent, and of the others only id, name and status. It cannot select them by `type`.

    Args:
        type_ (AgentType | Unset): The kind of an agent.
        status (AgentStatus | Unset): The status of an agent.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListShownAgent
    """

    return sync_detailed(
        client=client,
        type_=type_,
        status=status,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    type_: AgentType | Unset = UNSET,
    status: AgentStatus | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListShownAgent]:
    """Lists agents, oldest first.

     Decommissioned agents stay in the list, with their status. An agent's key with the scope
    `directory:org` sees its
    own agent, and of the others only id, name and status. It cannot select them by `type`.

    Args:
        type_ (AgentType | Unset): The kind of an agent.
        status (AgentStatus | Unset): The status of an agent.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListShownAgent]
    """

    kwargs = _get_kwargs(
        type_=type_,
        status=status,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    type_: AgentType | Unset = UNSET,
    status: AgentStatus | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListShownAgent | None:
    """Lists agents, oldest first.

     Decommissioned agents stay in the list, with their status. An agent's key with the scope
    `directory:org` sees its
    own agent, and of the others only id, name and status. It cannot select them by `type`.

    Args:
        type_ (AgentType | Unset): The kind of an agent.
        status (AgentStatus | Unset): The status of an agent.
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListShownAgent
    """

    return (
        await asyncio_detailed(
            client=client,
            type_=type_,
            status=status,
            limit=limit,
            offset=offset,
        )
    ).parsed
