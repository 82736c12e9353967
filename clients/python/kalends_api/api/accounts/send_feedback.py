from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.accepted import Accepted
from ...models.error_envelope import ErrorEnvelope
from ...models.feedback import Feedback
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: Feedback,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/feedback",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Accepted | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = Accepted.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Accepted | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: Feedback,
    idempotency_key: str | Unset = UNSET,
) -> Response[Accepted | ErrorEnvelope]:
    """Sends feedback to the operator of the service.

     The feedback is written to the operator's log and stored nowhere else. The limit is 25 per
    organization and UTC day.
    Beyond it, the answer is 429 `quota_exceeded` until midnight UTC.

    Args:
        idempotency_key (str | Unset):
        body (Feedback): Feedback to the operator of the service.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Accepted | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: Feedback,
    idempotency_key: str | Unset = UNSET,
) -> Accepted | ErrorEnvelope | None:
    """Sends feedback to the operator of the service.

     The feedback is written to the operator's log and stored nowhere else. The limit is 25 per
    organization and UTC day.
    Beyond it, the answer is 429 `quota_exceeded` until midnight UTC.

    Args:
        idempotency_key (str | Unset):
        body (Feedback): Feedback to the operator of the service.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Accepted | ErrorEnvelope
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: Feedback,
    idempotency_key: str | Unset = UNSET,
) -> Response[Accepted | ErrorEnvelope]:
    """Sends feedback to the operator of the service.

     The feedback is written to the operator's log and stored nowhere else. The limit is 25 per
    organization and UTC day.
    Beyond it, the answer is 429 `quota_exceeded` until midnight UTC.

    Args:
        idempotency_key (str | Unset):
        body (Feedback): Feedback to the operator of the service.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Accepted | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: Feedback,
    idempotency_key: str | Unset = UNSET,
) -> Accepted | ErrorEnvelope | None:
    """Sends feedback to the operator of the service.

     The feedback is written to the operator's log and stored nowhere else. The limit is 25 per
    organization and UTC day.
    Beyond it, the answer is 429 `quota_exceeded` until midnight UTC.

    Args:
        idempotency_key (str | Unset):
        body (Feedback): Feedback to the operator of the service.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Accepted | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
