from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.approval import Approval
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    wait: int | Unset = 0,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["wait"] = wait

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/approvals/{id}".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Approval | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = Approval.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Approval | ErrorEnvelope]:
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
    wait: int | Unset = 0,
) -> Response[Approval | ErrorEnvelope]:
    """Returns an approval, with the result of its request once it is approved.

     With `wait`, the answer to a pending approval comes as soon as it is decided, or when the wait is
    over. At most 10
    requests of a key wait at once. A tool call waits for at most 20 seconds.

    Args:
        id (str):
        wait (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Approval | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        wait=wait,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    wait: int | Unset = 0,
) -> Approval | ErrorEnvelope | None:
    """Returns an approval, with the result of its request once it is approved.

     With `wait`, the answer to a pending approval comes as soon as it is decided, or when the wait is
    over. At most 10
    requests of a key wait at once. A tool call waits for at most 20 seconds.

    Args:
        id (str):
        wait (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Approval | ErrorEnvelope
    """

    return sync_detailed(
        id=id,
        client=client,
        wait=wait,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    wait: int | Unset = 0,
) -> Response[Approval | ErrorEnvelope]:
    """Returns an approval, with the result of its request once it is approved.

     With `wait`, the answer to a pending approval comes as soon as it is decided, or when the wait is
    over. At most 10
    requests of a key wait at once. A tool call waits for at most 20 seconds.

    Args:
        id (str):
        wait (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Approval | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        wait=wait,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    wait: int | Unset = 0,
) -> Approval | ErrorEnvelope | None:
    """Returns an approval, with the result of its request once it is approved.

     With `wait`, the answer to a pending approval comes as soon as it is decided, or when the wait is
    over. At most 10
    requests of a key wait at once. A tool call waits for at most 20 seconds.

    Args:
        id (str):
        wait (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Approval | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            wait=wait,
        )
    ).parsed
