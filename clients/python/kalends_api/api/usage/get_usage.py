from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.usage import Usage
from ...types import Response


def _get_kwargs() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/usage",
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | Usage:
    if response.status_code == 200:
        response_200 = Usage.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | Usage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
) -> Response[ErrorEnvelope | Usage]:
    """Returns the organization's usage and the limits of its plan.

     Events, API calls, webhook deliveries, availability queries and proposals are counted from the start
    of the UTC
    month. Everything else is the number that exists now. This request counts as an API call too. If the
    service runs
    on several nodes, the calls that each node has set aside in advance count as used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Usage]
    """

    kwargs = _get_kwargs()

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
) -> ErrorEnvelope | Usage | None:
    """Returns the organization's usage and the limits of its plan.

     Events, API calls, webhook deliveries, availability queries and proposals are counted from the start
    of the UTC
    month. Everything else is the number that exists now. This request counts as an API call too. If the
    service runs
    on several nodes, the calls that each node has set aside in advance count as used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Usage
    """

    return sync_detailed(
        client=client,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
) -> Response[ErrorEnvelope | Usage]:
    """Returns the organization's usage and the limits of its plan.

     Events, API calls, webhook deliveries, availability queries and proposals are counted from the start
    of the UTC
    month. Everything else is the number that exists now. This request counts as an API call too. If the
    service runs
    on several nodes, the calls that each node has set aside in advance count as used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | Usage]
    """

    kwargs = _get_kwargs()

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
) -> ErrorEnvelope | Usage | None:
    """Returns the organization's usage and the limits of its plan.

     Events, API calls, webhook deliveries, availability queries and proposals are counted from the start
    of the UTC
    month. Everything else is the number that exists now. This request counts as an API call too. If the
    service runs
    on several nodes, the calls that each node has set aside in advance count as used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | Usage
    """

    return (
        await asyncio_detailed(
            client=client,
        )
    ).parsed
