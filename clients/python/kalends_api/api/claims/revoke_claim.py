from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.claim_revoked import ClaimRevoked
from ...models.error_envelope import ErrorEnvelope
from ...models.revoke_claim import RevokeClaim
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: RevokeClaim,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/auth/claim/{id}/revoke".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ClaimRevoked | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = ClaimRevoked.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ClaimRevoked | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RevokeClaim,
    idempotency_key: str | Unset = UNSET,
) -> Response[ClaimRevoked | ErrorEnvelope]:
    """Revokes a held claim.

     Anyone who has the token from the email can revoke the claim, without a credential. Repeating the
    request changes
    nothing and returns the same answer. After the hold, the answer is 410 `conflict`, code
    `claim_over`. An unknown
    claim and a wrong token get the same 404. If the request is a form, the answer is HTML.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (RevokeClaim): The token that revokes a held claim.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ClaimRevoked | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RevokeClaim,
    idempotency_key: str | Unset = UNSET,
) -> ClaimRevoked | ErrorEnvelope | None:
    """Revokes a held claim.

     Anyone who has the token from the email can revoke the claim, without a credential. Repeating the
    request changes
    nothing and returns the same answer. After the hold, the answer is 410 `conflict`, code
    `claim_over`. An unknown
    claim and a wrong token get the same 404. If the request is a form, the answer is HTML.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (RevokeClaim): The token that revokes a held claim.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ClaimRevoked | ErrorEnvelope
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RevokeClaim,
    idempotency_key: str | Unset = UNSET,
) -> Response[ClaimRevoked | ErrorEnvelope]:
    """Revokes a held claim.

     Anyone who has the token from the email can revoke the claim, without a credential. Repeating the
    request changes
    nothing and returns the same answer. After the hold, the answer is 410 `conflict`, code
    `claim_over`. An unknown
    claim and a wrong token get the same 404. If the request is a form, the answer is HTML.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (RevokeClaim): The token that revokes a held claim.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ClaimRevoked | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RevokeClaim,
    idempotency_key: str | Unset = UNSET,
) -> ClaimRevoked | ErrorEnvelope | None:
    """Revokes a held claim.

     Anyone who has the token from the email can revoke the claim, without a credential. Repeating the
    request changes
    nothing and returns the same answer. After the hold, the answer is 410 `conflict`, code
    `claim_over`. An unknown
    claim and a wrong token get the same 404. If the request is a form, the answer is HTML.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (RevokeClaim): The token that revokes a held claim.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ClaimRevoked | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
