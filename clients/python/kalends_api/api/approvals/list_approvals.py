from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.approval_status import ApprovalStatus
from ...models.error_envelope import ErrorEnvelope
from ...models.list_approval import ListApproval
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    status: ApprovalStatus | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params["agent_id"] = agent_id

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/approvals",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | ListApproval:
    if response.status_code == 200:
        response_200 = ListApproval.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | ListApproval]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    status: ApprovalStatus | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListApproval]:
    """Lists approvals, newest first, without their results.

     An agent's key sees only what keys of its agent asked for. An approval is kept for 30 days after its
    decision.

    Args:
        status (ApprovalStatus | Unset): The status of an approval.
        agent_id (str | Unset):
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListApproval]
    """

    kwargs = _get_kwargs(
        status=status,
        agent_id=agent_id,
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
    status: ApprovalStatus | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListApproval | None:
    """Lists approvals, newest first, without their results.

     An agent's key sees only what keys of its agent asked for. An approval is kept for 30 days after its
    decision.

    Args:
        status (ApprovalStatus | Unset): The status of an approval.
        agent_id (str | Unset):
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListApproval
    """

    return sync_detailed(
        client=client,
        status=status,
        agent_id=agent_id,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    status: ApprovalStatus | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> Response[ErrorEnvelope | ListApproval]:
    """Lists approvals, newest first, without their results.

     An agent's key sees only what keys of its agent asked for. An approval is kept for 30 days after its
    decision.

    Args:
        status (ApprovalStatus | Unset): The status of an approval.
        agent_id (str | Unset):
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListApproval]
    """

    kwargs = _get_kwargs(
        status=status,
        agent_id=agent_id,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    status: ApprovalStatus | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    limit: int | Unset = 50,
    offset: int | Unset = 0,
) -> ErrorEnvelope | ListApproval | None:
    """Lists approvals, newest first, without their results.

     An agent's key sees only what keys of its agent asked for. An approval is kept for 30 days after its
    decision.

    Args:
        status (ApprovalStatus | Unset): The status of an approval.
        agent_id (str | Unset):
        limit (int | Unset):  Default: 50.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListApproval
    """

    return (
        await asyncio_detailed(
            client=client,
            status=status,
            agent_id=agent_id,
            limit=limit,
            offset=offset,
        )
    ).parsed
