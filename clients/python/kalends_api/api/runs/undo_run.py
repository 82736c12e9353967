from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.awaits_approval import AwaitsApproval
from ...models.error_envelope import ErrorEnvelope
from ...models.undone_run import UndoneRun
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    agent_id: str | Unset = UNSET,
    send_invitations: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["agent_id"] = agent_id

    params["send_invitations"] = send_invitations

    params["dry_run"] = dry_run

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/runs/{name}/undo".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AwaitsApproval | ErrorEnvelope | UndoneRun:
    if response.status_code == 200:
        response_200 = UndoneRun.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = AwaitsApproval.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AwaitsApproval | ErrorEnvelope | UndoneRun]:
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
    send_invitations: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | UndoneRun]:
    """Takes back all writes of a run, or none.

     What the run created is deleted or cancelled. What it changed or deleted gets its state before the
    run, with the same
    identifiers. If something else has changed one of these resources, or its time must be free and is
    not, nothing is taken
    back: the answer is 409 `conflict`, code `run_changed`, and `in_the_way` lists these resources. A
    repetition has nothing
    to take back. The caller needs access to everything that the run wrote.

    Args:
        name (str):
        agent_id (str | Unset):
        send_invitations (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | UndoneRun]
    """

    kwargs = _get_kwargs(
        name=name,
        agent_id=agent_id,
        send_invitations=send_invitations,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
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
    send_invitations: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | UndoneRun | None:
    """Takes back all writes of a run, or none.

     What the run created is deleted or cancelled. What it changed or deleted gets its state before the
    run, with the same
    identifiers. If something else has changed one of these resources, or its time must be free and is
    not, nothing is taken
    back: the answer is 409 `conflict`, code `run_changed`, and `in_the_way` lists these resources. A
    repetition has nothing
    to take back. The caller needs access to everything that the run wrote.

    Args:
        name (str):
        agent_id (str | Unset):
        send_invitations (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | UndoneRun
    """

    return sync_detailed(
        name=name,
        client=client,
        agent_id=agent_id,
        send_invitations=send_invitations,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    agent_id: str | Unset = UNSET,
    send_invitations: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> Response[AwaitsApproval | ErrorEnvelope | UndoneRun]:
    """Takes back all writes of a run, or none.

     What the run created is deleted or cancelled. What it changed or deleted gets its state before the
    run, with the same
    identifiers. If something else has changed one of these resources, or its time must be free and is
    not, nothing is taken
    back: the answer is 409 `conflict`, code `run_changed`, and `in_the_way` lists these resources. A
    repetition has nothing
    to take back. The caller needs access to everything that the run wrote.

    Args:
        name (str):
        agent_id (str | Unset):
        send_invitations (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AwaitsApproval | ErrorEnvelope | UndoneRun]
    """

    kwargs = _get_kwargs(
        name=name,
        agent_id=agent_id,
        send_invitations=send_invitations,
        dry_run=dry_run,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    agent_id: str | Unset = UNSET,
    send_invitations: bool | Unset = False,
    dry_run: bool | Unset = False,
    idempotency_key: str | Unset = UNSET,
) -> AwaitsApproval | ErrorEnvelope | UndoneRun | None:
    """Takes back all writes of a run, or none.

     What the run created is deleted or cancelled. What it changed or deleted gets its state before the
    run, with the same
    identifiers. If something else has changed one of these resources, or its time must be free and is
    not, nothing is taken
    back: the answer is 409 `conflict`, code `run_changed`, and `in_the_way` lists these resources. A
    repetition has nothing
    to take back. The caller needs access to everything that the run wrote.

    Args:
        name (str):
        agent_id (str | Unset):
        send_invitations (bool | Unset):  Default: False.
        dry_run (bool | Unset):  Default: False.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AwaitsApproval | ErrorEnvelope | UndoneRun
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            agent_id=agent_id,
            send_invitations=send_invitations,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )
    ).parsed
