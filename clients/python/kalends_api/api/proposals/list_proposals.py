from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope import ErrorEnvelope
from ...models.list_proposal_summary import ListProposalSummary
from ...models.proposal_status import ProposalStatus
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    status: ProposalStatus | Unset = UNSET,
    organizer_agent_id: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params["organizer_agent_id"] = organizer_agent_id

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/scheduling/proposals",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelope | ListProposalSummary:
    if response.status_code == 200:
        response_200 = ListProposalSummary.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelope | ListProposalSummary]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    status: ProposalStatus | Unset = UNSET,
    organizer_agent_id: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
) -> Response[ErrorEnvelope | ListProposalSummary]:
    """Lists proposals, oldest first.

     An agent's key sees only the proposals that its agent organizes or participates in.

    Args:
        status (ProposalStatus | Unset):
        organizer_agent_id (str | Unset):
        limit (int | Unset):
        offset (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListProposalSummary]
    """

    kwargs = _get_kwargs(
        status=status,
        organizer_agent_id=organizer_agent_id,
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
    status: ProposalStatus | Unset = UNSET,
    organizer_agent_id: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
) -> ErrorEnvelope | ListProposalSummary | None:
    """Lists proposals, oldest first.

     An agent's key sees only the proposals that its agent organizes or participates in.

    Args:
        status (ProposalStatus | Unset):
        organizer_agent_id (str | Unset):
        limit (int | Unset):
        offset (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListProposalSummary
    """

    return sync_detailed(
        client=client,
        status=status,
        organizer_agent_id=organizer_agent_id,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    status: ProposalStatus | Unset = UNSET,
    organizer_agent_id: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
) -> Response[ErrorEnvelope | ListProposalSummary]:
    """Lists proposals, oldest first.

     An agent's key sees only the proposals that its agent organizes or participates in.

    Args:
        status (ProposalStatus | Unset):
        organizer_agent_id (str | Unset):
        limit (int | Unset):
        offset (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ListProposalSummary]
    """

    kwargs = _get_kwargs(
        status=status,
        organizer_agent_id=organizer_agent_id,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    status: ProposalStatus | Unset = UNSET,
    organizer_agent_id: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
) -> ErrorEnvelope | ListProposalSummary | None:
    """Lists proposals, oldest first.

     An agent's key sees only the proposals that its agent organizes or participates in.

    Args:
        status (ProposalStatus | Unset):
        organizer_agent_id (str | Unset):
        limit (int | Unset):
        offset (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ListProposalSummary
    """

    return (
        await asyncio_detailed(
            client=client,
            status=status,
            organizer_agent_id=organizer_agent_id,
            limit=limit,
            offset=offset,
        )
    ).parsed
