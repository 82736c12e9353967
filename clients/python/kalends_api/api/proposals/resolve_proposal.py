from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.error_envelope import ErrorEnvelope
from ...models.resolution import Resolution
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
        "url": "/v1/scheduling/proposals/{id}/resolve".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | Resolution:
    if response.status_code == 200:
        response_200 = Resolution.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | ErrorEnvelope | Resolution]:
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
) -> Response[AwaitsApproval | ErrorEnvelope | Resolution]:
    """Resolves a proposal with the responses so far.

     The slot with the highest score becomes an event. If everyone who responded declined, the proposal
    is cancelled. If
    nobody has responded, the answer is 409. A slot that has started is never chosen. If all have
    started, the answer is
    409 `no_slot_left`. If none has the acceptances that `min_accepts` requires, it is 409
    `too_few_accepts`.
    With `skip_taken`, and on a calendar that refuses conflicts, slots that are taken are skipped. If
    none is left, the answer is 409 `slot_taken`, and the proposal stays pending. It also stays pending
    if
    the plan's events are used up. The answer is then 429 `quota_exceeded`.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Resolution]
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
) -> AwaitsApproval | ErrorEnvelope | Resolution | None:
    """Resolves a proposal with the responses so far.

     The slot with the highest score becomes an event. If everyone who responded declined, the proposal
    is cancelled. If
    nobody has responded, the answer is 409. A slot that has started is never chosen. If all have
    started, the answer is
    409 `no_slot_left`. If none has the acceptances that `min_accepts` requires, it is 409
    `too_few_accepts`.
    With `skip_taken`, and on a calendar that refuses conflicts, slots that are taken are skipped. If
    none is left, the answer is 409 `slot_taken`, and the proposal stays pending. It also stays pending
    if
    the plan's events are used up. The answer is then 429 `quota_exceeded`.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Resolution
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
) -> Response[AwaitsApproval | ErrorEnvelope | Resolution]:
    """Resolves a proposal with the responses so far.

     The slot with the highest score becomes an event. If everyone who responded declined, the proposal
    is cancelled. If
    nobody has responded, the answer is 409. A slot that has started is never chosen. If all have
    started, the answer is
    409 `no_slot_left`. If none has the acceptances that `min_accepts` requires, it is 409
    `too_few_accepts`.
    With `skip_taken`, and on a calendar that refuses conflicts, slots that are taken are skipped. If
    none is left, the answer is 409 `slot_taken`, and the proposal stays pending. It also stays pending
    if
    the plan's events are used up. The answer is then 429 `quota_exceeded`.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | Resolution]
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
) -> AwaitsApproval | ErrorEnvelope | Resolution | None:
    """Resolves a proposal with the responses so far.

     The slot with the highest score becomes an event. If everyone who responded declined, the proposal
    is cancelled. If
    nobody has responded, the answer is 409. A slot that has started is never chosen. If all have
    started, the answer is
    409 `no_slot_left`. If none has the acceptances that `min_accepts` requires, it is 409
    `too_few_accepts`.
    With `skip_taken`, and on a calendar that refuses conflicts, slots that are taken are skipped. If
    none is left, the answer is 409 `slot_taken`, and the proposal stays pending. It also stays pending
    if
    the plan's events are used up. The answer is then 429 `quota_exceeded`.

    Args:
        id (str):
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | Resolution
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
