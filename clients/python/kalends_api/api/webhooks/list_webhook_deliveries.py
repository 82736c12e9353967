from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.delivery_list import DeliveryList
from ...models.delivery_status import DeliveryStatus
from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    status: DeliveryStatus | Unset = UNSET,
    include_payload: bool | Unset = False,
    limit: int | Unset = 20,
    offset: int | Unset = 0,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params["include_payload"] = include_payload

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/webhooks/{id}/deliveries".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeliveryList | ErrorEnvelope:
    if response.status_code == 200:
        response_200 = DeliveryList.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelope.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[DeliveryList | ErrorEnvelope]:
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
    status: DeliveryStatus | Unset = UNSET,
    include_payload: bool | Unset = False,
    limit: int | Unset = 20,
    offset: int | Unset = 0,
) -> Response[DeliveryList | ErrorEnvelope]:
    """Lists the deliveries of a webhook endpoint, oldest message first.

     The list covers the last 30 days, with 20 entries per page by default. `stats` counts all of them.

    Args:
        id (str):
        status (DeliveryStatus | Unset): The status of a delivery.
        include_payload (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 20.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeliveryList | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        status=status,
        include_payload=include_payload,
        limit=limit,
        offset=offset,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    status: DeliveryStatus | Unset = UNSET,
    include_payload: bool | Unset = False,
    limit: int | Unset = 20,
    offset: int | Unset = 0,
) -> DeliveryList | ErrorEnvelope | None:
    """Lists the deliveries of a webhook endpoint, oldest message first.

     The list covers the last 30 days, with 20 entries per page by default. `stats` counts all of them.

    Args:
        id (str):
        status (DeliveryStatus | Unset): The status of a delivery.
        include_payload (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 20.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeliveryList | ErrorEnvelope
    """

    return sync_detailed(
        id=id,
        client=client,
        status=status,
        include_payload=include_payload,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    status: DeliveryStatus | Unset = UNSET,
    include_payload: bool | Unset = False,
    limit: int | Unset = 20,
    offset: int | Unset = 0,
) -> Response[DeliveryList | ErrorEnvelope]:
    """Lists the deliveries of a webhook endpoint, oldest message first.

     The list covers the last 30 days, with 20 entries per page by default. `stats` counts all of them.

    Args:
        id (str):
        status (DeliveryStatus | Unset): The status of a delivery.
        include_payload (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 20.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeliveryList | ErrorEnvelope]
    """

    kwargs = _get_kwargs(
        id=id,
        status=status,
        include_payload=include_payload,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    status: DeliveryStatus | Unset = UNSET,
    include_payload: bool | Unset = False,
    limit: int | Unset = 20,
    offset: int | Unset = 0,
) -> DeliveryList | ErrorEnvelope | None:
    """Lists the deliveries of a webhook endpoint, oldest message first.

     The list covers the last 30 days, with 20 entries per page by default. `stats` counts all of them.

    Args:
        id (str):
        status (DeliveryStatus | Unset): The status of a delivery.
        include_payload (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 20.
        offset (int | Unset):  Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeliveryList | ErrorEnvelope
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            status=status,
            include_payload=include_payload,
            limit=limit,
            offset=offset,
        )
    ).parsed
