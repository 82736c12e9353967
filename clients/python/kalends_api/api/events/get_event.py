from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.event import Event
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    local: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["local"] = local

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/events/{id}".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | Event:
    if response.status_code == 200:
        response_200 = Event.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | Event]:
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
) -> Response[ErrorEnvelope | Event]:
    """Returns an event by its identifier alone.

    Args:
        id (str):
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        id=id,
        local=local,
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
) -> ErrorEnvelope | Event | None:
    """Returns an event by its identifier alone.

    Args:
        id (str):
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Event
    """

    return sync_detailed(
        id=id,
        client=client,
        local=local,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
) -> Response[ErrorEnvelope | Event]:
    """Returns an event by its identifier alone.

    Args:
        id (str):
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Event]
    """

    kwargs = _get_kwargs(
        id=id,
        local=local,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    local: bool | Unset = False,
) -> ErrorEnvelope | Event | None:
    """Returns an event by its identifier alone.

    Args:
        id (str):
        local (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Event
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            local=local,
        )
    ).parsed
