from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.error_envelope import ErrorEnvelope
from ...models.proposal import Proposal
from ...models.respond_to_proposal import RespondToProposal
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: RespondToProposal,
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
        "url": "/v1/scheduling/proposals/{id}/respond".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | Proposal:
    if response.status_code == 200:
        response_200 = Proposal.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | ErrorEnvelope | Proposal]:
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
    body: RespondToProposal,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Proposal]:
    """Records a participant's response to a proposal.

     Each participant responds once. A second response gets 409 `duplicate_response`. The last missing
    response resolves
    the proposal at once, and the answer shows the outcome. If no slot can be confirmed, the proposal
    stays pending with
    all of its responses, and `notices` says why: `too_few_accepts`, `slot_taken` or `no_slot_left`.
    If the plan's events are used up, the answer is 429 `quota_exceeded`, and the response is not
    recorded.

    With the placement `all`, `calendar_id` is the participant's own calendar for its event. It is
    required if the agent
    has several calendars and does not decline.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (RespondToProposal): The fields of a participant's response.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Proposal]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
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
    body: RespondToProposal,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Proposal | None:
    """Records a participant's response to a proposal.

     Each participant responds once. A second response gets 409 `duplicate_response`. The last missing
    response resolves
    the proposal at once, and the answer shows the outcome. If no slot can be confirmed, the proposal
    stays pending with
    all of its responses, and `notices` says why: `too_few_accepts`, `slot_taken` or `no_slot_left`.
    If the plan's events are used up, the answer is 429 `quota_exceeded`, and the response is not
    recorded.

    With the placement `all`, `calendar_id` is the participant's own calendar for its event. It is
    required if the agent
    has several calendars and does not decline.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (RespondToProposal): The fields of a participant's response.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Proposal
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: RespondToProposal,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Proposal]:
    """Records a participant's response to a proposal.

     Each participant responds once. A second response gets 409 `duplicate_response`. The last missing
    response resolves
    the proposal at once, and the answer shows the outcome. If no slot can be confirmed, the proposal
    stays pending with
    all of its responses, and `notices` says why: `too_few_accepts`, `slot_taken` or `no_slot_left`.
    If the plan's events are used up, the answer is 429 `quota_exceeded`, and the response is not
    recorded.

    With the placement `all`, `calendar_id` is the participant's own calendar for its event. It is
    required if the agent
    has several calendars and does not decline.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (RespondToProposal): The fields of a participant's response.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Proposal]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: RespondToProposal,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Proposal | None:
    """Records a participant's response to a proposal.

     Each participant responds once. A second response gets 409 `duplicate_response`. The last missing
    response resolves
    the proposal at once, and the answer shows the outcome. If no slot can be confirmed, the proposal
    stays pending with
    all of its responses, and `notices` says why: `too_few_accepts`, `slot_taken` or `no_slot_left`.
    If the plan's events are used up, the answer is 429 `quota_exceeded`, and the response is not
    recorded.

    With the placement `all`, `calendar_id` is the participant's own calendar for its event. It is
    required if the agent
    has several calendars and does not decline.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        body (RespondToProposal): The fields of a participant's response.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Proposal
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
