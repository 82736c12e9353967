from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.create_proposal import CreateProposal
from ...models.error_envelope import ErrorEnvelope
from ...models.proposal import Proposal
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateProposal,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(kalends_run, Unset):
        headers["Kalends-Run"] = kalends_run

    params: dict[str, Any] = {}

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/scheduling/proposals",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | Proposal:
    if response.status_code == 201:
        response_201 = Proposal.from_dict(response.json())

        return response_201

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
    *,
    client: AuthenticatedClient,
    body: CreateProposal,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Proposal]:
    """Creates a proposal with candidate slots.

     Each participant responds once. The last response resolves the proposal, and so does `resolve`. The
    slot with the
    highest score becomes an event. The score is the slot's weight, plus 1.0 for each acceptance and 0.3
    for each
    counter-proposal that names the slot. If scores are equal, the earliest slot wins.

    With `min_accepts`, a slot needs that many acceptances. With the placement `all`, the organizer and
    every participant
    that did not decline get an event, all in one write: `confirmed` for those that accepted the slot,
    else `tentative`.

    With `hold_slots`, the slots are reserved while the proposal is pending: availability shows them as
    busy, and nobody
    else can hold or book them. If one of them is taken already, the answer is 409 `slot_taken`.
    Proposals require a
    paid plan. On other plans, the answer is 403 `plan_required`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateProposal): The fields of a new proposal.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Proposal]
    """

    kwargs = _get_kwargs(
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: CreateProposal,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Proposal | None:
    """Creates a proposal with candidate slots.

     Each participant responds once. The last response resolves the proposal, and so does `resolve`. The
    slot with the
    highest score becomes an event. The score is the slot's weight, plus 1.0 for each acceptance and 0.3
    for each
    counter-proposal that names the slot. If scores are equal, the earliest slot wins.

    With `min_accepts`, a slot needs that many acceptances. With the placement `all`, the organizer and
    every participant
    that did not decline get an event, all in one write: `confirmed` for those that accepted the slot,
    else `tentative`.

    With `hold_slots`, the slots are reserved while the proposal is pending: availability shows them as
    busy, and nobody
    else can hold or book them. If one of them is taken already, the answer is 409 `slot_taken`.
    Proposals require a
    paid plan. On other plans, the answer is 403 `plan_required`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateProposal): The fields of a new proposal.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Proposal
    """

    return sync_detailed(
        client=client,
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateProposal,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | Proposal]:
    """Creates a proposal with candidate slots.

     Each participant responds once. The last response resolves the proposal, and so does `resolve`. The
    slot with the
    highest score becomes an event. The score is the slot's weight, plus 1.0 for each acceptance and 0.3
    for each
    counter-proposal that names the slot. If scores are equal, the earliest slot wins.

    With `min_accepts`, a slot needs that many acceptances. With the placement `all`, the organizer and
    every participant
    that did not decline get an event, all in one write: `confirmed` for those that accepted the slot,
    else `tentative`.

    With `hold_slots`, the slots are reserved while the proposal is pending: availability shows them as
    busy, and nobody
    else can hold or book them. If one of them is taken already, the answer is 409 `slot_taken`.
    Proposals require a
    paid plan. On other plans, the answer is 403 `plan_required`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateProposal): The fields of a new proposal.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Proposal]
    """

    kwargs = _get_kwargs(
        body=body,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
        kalends_run=kalends_run,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateProposal,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
    kalends_run: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | Proposal | None:
    """Creates a proposal with candidate slots.

     Each participant responds once. The last response resolves the proposal, and so does `resolve`. The
    slot with the
    highest score becomes an event. The score is the slot's weight, plus 1.0 for each acceptance and 0.3
    for each
    counter-proposal that names the slot. If scores are equal, the earliest slot wins.

    With `min_accepts`, a slot needs that many acceptances. With the placement `all`, the organizer and
    every participant
    that did not decline get an event, all in one write: `confirmed` for those that accepted the slot,
    else `tentative`.

    With `hold_slots`, the slots are reserved while the proposal is pending: availability shows them as
    busy, and nobody
    else can hold or book them. If one of them is taken already, the answer is 409 `slot_taken`.
    Proposals require a
    paid plan. On other plans, the answer is 403 `plan_required`.

    Args:
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):
        kalends_run (str | Unset):
        body (CreateProposal): The fields of a new proposal.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Proposal
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
            kalends_run=kalends_run,
        )
    ).parsed
