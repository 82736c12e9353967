from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.run import Run
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    agent_id: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["agent_id"] = agent_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/runs/{name}".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | Run:
    if response.status_code == 200:
        response_200 = Run.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | Run]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    agent_id: str | Unset = UNSET,
) -> Response[ErrorEnvelope | Run]:
    """Returns a run with its writes, in order.

     A run is all writes with the same `Kalends-Run` header by the same owner: the agent of an agent's
    key, or the
    organization for all other callers. Writes are kept for 7 days.

    Args:
        name (str):
        agent_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Run]
    """

    kwargs = _get_kwargs(
        name=name,
        agent_id=agent_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient,
    agent_id: str | Unset = UNSET,
) -> ErrorEnvelope | Run | None:
    """Returns a run with its writes, in order.

     A run is all writes with the same `Kalends-Run` header by the same owner: the agent of an agent's
    key, or the
    organization for all other callers. Writes are kept for 7 days.

    Args:
        name (str):
        agent_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Run
    """

    return sync_detailed(
        name=name,
        client=client,
        agent_id=agent_id,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    agent_id: str | Unset = UNSET,
) -> Response[ErrorEnvelope | Run]:
    """Returns a run with its writes, in order.

     A run is all writes with the same `Kalends-Run` header by the same owner: the agent of an agent's
    key, or the
    organization for all other callers. Writes are kept for 7 days.

    Args:
        name (str):
        agent_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Run]
    """

    kwargs = _get_kwargs(
        name=name,
        agent_id=agent_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    agent_id: str | Unset = UNSET,
) -> ErrorEnvelope | Run | None:
    """Returns a run with its writes, in order.

     A run is all writes with the same `Kalends-Run` header by the same owner: the agent of an agent's
    key, or the
    organization for all other callers. Writes are kept for 7 days.

    Args:
        name (str):
        agent_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Run
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            agent_id=agent_id,
        )
    ).parsed
