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
        "url": "/v1/approvals/{id}/cancel".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
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
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[Approval | ErrorEnvelope]:
    """Cancels a write that waits for approval. The times that were reserved for it are free again.

     A repetition changes nothing. An approval that was decided, or expired, is 409 `conflict`, code
    `approval_decided`.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Approval | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Approval | ErrorEnvelope | None:
    """Cancels a write that waits for approval. The times that were reserved for it are free again.

     A repetition changes nothing. An approval that was decided, or expired, is 409 `conflict`, code
    `approval_decided`.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Approval | ErrorEnvelope
    """

    return sync_detailed(
        id=id,
        client=client,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[Approval | ErrorEnvelope]:
    """Cancels a write that waits for approval. The times that were reserved for it are free again.

     A repetition changes nothing. An approval that was decided, or expired, is 409 `conflict`, code
    `approval_decided`.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Approval | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Approval | ErrorEnvelope | None:
    """Cancels a write that waits for approval. The times that were reserved for it are free again.

     A repetition changes nothing. An approval that was decided, or expired, is 409 `conflict`, code
    `approval_decided`.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

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
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
