"""The client: a key, a base URL, and the generated operations over a transport that repeats requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import httpx
from kalends_api import AuthenticatedClient
from kalends_api.api.changes import list_changes
from kalends_api.models import Approval, AwaitsApproval, ErrorEnvelope, OrganizationChanges

from ._approvals import ApprovalPending
from ._errors import ApiError
from ._retry import Retry
from ._transport import AsyncRetryingTransport, RetryingTransport, proxy

T = TypeVar("T")
# What a generated function returns besides the value. `None` is for undescribed answers.
Other = AwaitsApproval | ErrorEnvelope | None
RUN = "Kalends-Run"
# Longer than the longest wait for changes, which is 60 seconds.
TIMEOUT = 75.0


@dataclass(frozen=True)
class Answer(Generic[T]):
    """The answer to a call: a value, or that the write waits for a person's approval."""

    _parsed: T | AwaitsApproval
    status: int
    headers: httpx.Headers

    @property
    def approval(self) -> Approval | None:
        """What the write waits for. Nothing has been done yet. `None` if it was done."""
        return self._parsed.approval if isinstance(self._parsed, AwaitsApproval) else None

    @property
    def value(self) -> T:
        """The value. Raises `ApprovalPending` if the write waits for approval."""
        if isinstance(self._parsed, AwaitsApproval):
            raise ApprovalPending(self._parsed.approval)
        return self._parsed

    @property
    def etag(self) -> str | None:
        """The version of the resource, for `if_match`."""
        return _header(self.headers, "ETag")

    @property
    def request_id(self) -> str | None:
        """What the operator finds the request by."""
        return _header(self.headers, "X-Request-Id")

    @property
    def is_replay(self) -> bool:
        """Whether an earlier request under the same key was answered, and nothing was done now."""
        return _header(self.headers, "Idempotency-Replayed") == "true"


def _header(headers: httpx.Headers, name: str) -> str | None:
    value: str | None = headers.get(name)
    return value


class Listing(Protocol[T]):
    """A page of a list."""

    data: list[T]


class _Sent:
    """What a generated function calls. Keeps the answer."""

    raise_on_unexpected_status = False

    def __init__(self, client: httpx.Client | httpx.AsyncClient) -> None:
        self._client = client
        self.response: httpx.Response | None = None

    def get_httpx_client(self) -> _Sent:
        return self

    def get_async_httpx_client(self) -> _Sent:
        return self

    def request(self, **arguments: Any) -> Any:
        if isinstance(self._client, httpx.AsyncClient):
            return self._request_async(self._client, arguments)
        self.response = self._client.request(**arguments)
        return _checked(self.response)

    async def _request_async(self, client: httpx.AsyncClient, arguments: dict[str, Any]) -> httpx.Response:
        self.response = await client.request(**arguments)
        return _checked(self.response)

    def answer(self, value: Any) -> Answer[Any]:
        assert self.response is not None, "the function sent nothing: pass one of kalends_api.api"
        return Answer(value, self.response.status_code, self.response.headers)


def _checked(response: httpx.Response) -> httpx.Response:
    # The operations do not redirect: a proxy did. A redirect is not followed, as it would send the key elsewhere.
    if not response.is_success:
        raise ApiError(response)
    return response


def _arguments(key: str | None, run: str | None, base_url: str, timeout: float) -> dict[str, Any]:
    headers = {"User-Agent": "kalends-python"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    if run is not None:
        headers[RUN] = run
    return {"base_url": base_url.rstrip("/"), "headers": headers, "timeout": timeout}


def _next(page: Any, named: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments for the next page of a list. `None` after the last one."""
    if hasattr(page, "total"):
        offset = page.offset + len(page.data)
        return named | {"offset": offset} if page.data and offset < page.total else None
    if hasattr(page, "pagination"):
        cursor = page.pagination.next_cursor
        return named | {"cursor": cursor} if cursor else None
    if hasattr(page, "has_more"):
        return named | {"since": page.next_} if page.has_more else None
    return named | {"cursor": page.next_} if page.next_ else None


def _since(named: dict[str, Any], since: str | None) -> dict[str, Any]:
    return named if since is None else named | {"since": since}


class _Base:
    def __init__(self, key: str | None, base_url: str, retry: Retry, timeout: float) -> None:
        self._key, self._base_url, self._retry, self._timeout = key, base_url, retry, timeout

    def _api(self, **headers: str) -> AuthenticatedClient:
        # The generated constructor wants a token, but the clients that are set below carry the header.
        return AuthenticatedClient(base_url=self._base_url, token=self._key or "", headers=headers)


class Kalends(_Base):
    """Calls the API with a key.

    `client` is for the generated functions themselves. They repeat requests too, but return errors as values.
    """

    def __init__(
        self,
        key: str | None,
        base_url: str,
        *,
        retry: Retry = Retry(),
        timeout: float = TIMEOUT,
        transport: httpx.BaseTransport | None = None,
        run: str | None = None,
    ) -> None:
        super().__init__(key, base_url, retry, timeout)
        self._is_shared = isinstance(transport, RetryingTransport)
        self._repeating = (
            transport
            if isinstance(transport, RetryingTransport)
            else RetryingTransport(transport or httpx.HTTPTransport(proxy=proxy(base_url)), retry)
        )
        self._http = httpx.Client(transport=self._repeating, **_arguments(key, run, base_url, timeout))
        self.client = self._api().set_httpx_client(self._http)

    def __enter__(self) -> Kalends:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. A client that `in_run` returned leaves them open for the first one."""
        if not self._is_shared:
            self._http.close()

    def in_run(self, name: str) -> Kalends:
        """The same client, whose writes belong to the run of that name. It shares the connections."""
        return Kalends(
            self._key,
            self._base_url,
            retry=self._retry,
            timeout=self._timeout,
            transport=self._repeating,
            run=name,
        )

    def send(self, function: Callable[..., T | Other], *arguments: Any, **named: Any) -> Answer[T]:
        """Calls the function `sync` of an operation, and returns its value with the headers.

        Raises `ApiError` if the service refuses.
        """
        sent = _Sent(self._http)
        return sent.answer(function(*arguments, client=sent, **named))

    def call(self, function: Callable[..., T | Other], *arguments: Any, **named: Any) -> T:
        """The value of `send`. Raises `ApprovalPending` if a write waits for a person's approval."""
        return self.send(function, *arguments, **named).value

    def pages(self, function: Callable[..., T | Other], *arguments: Any, **named: Any) -> Iterator[T]:
        """The pages of a list, one request each."""
        following: dict[str, Any] | None = named
        while following is not None:
            page = self.call(function, *arguments, **following)
            yield page
            following = _next(page, following)

    def items(self, function: Callable[..., Listing[T] | Other], *arguments: Any, **named: Any) -> Iterator[T]:
        """The entries of a list, over all its pages."""
        for page in self.pages(function, *arguments, **named):
            yield from page.data

    def follow(
        self, since: str | None = None, *, wait: int = 30, types: str | None = None, limit: int | None = None
    ) -> Iterator[OrganizationChanges]:
        """Everything that changes in the organization, without an end.

        Store `next_` of each page together with what you did with its `data`, and continue with it as `since`. Without
        `since`, the first page is empty, and its `next_` is the present end. A page may be empty: nothing happened in
        `wait` seconds.
        """
        named = {name: value for name, value in [("types", types), ("limit", limit)] if value is not None}
        while True:
            page = self.call(list_changes.sync, **_since(named, since), wait=wait)
            yield page
            since = page.next_


class AsyncKalends(_Base):
    """The same for asyncio. It calls the functions `asyncio` of the operations."""

    def __init__(
        self,
        key: str | None,
        base_url: str,
        *,
        retry: Retry = Retry(),
        timeout: float = TIMEOUT,
        transport: httpx.AsyncBaseTransport | None = None,
        run: str | None = None,
    ) -> None:
        super().__init__(key, base_url, retry, timeout)
        self._is_shared = isinstance(transport, AsyncRetryingTransport)
        self._repeating = (
            transport
            if isinstance(transport, AsyncRetryingTransport)
            else AsyncRetryingTransport(transport or httpx.AsyncHTTPTransport(proxy=proxy(base_url)), retry)
        )
        self._http = httpx.AsyncClient(transport=self._repeating, **_arguments(key, run, base_url, timeout))
        self.client = self._api().set_async_httpx_client(self._http)

    async def __aenter__(self) -> AsyncKalends:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections. A client that `in_run` returned leaves them open for the first one."""
        if not self._is_shared:
            await self._http.aclose()

    def in_run(self, name: str) -> AsyncKalends:
        """The same client, whose writes belong to the run of that name. It shares the connections."""
        return AsyncKalends(
            self._key,
            self._base_url,
            retry=self._retry,
            timeout=self._timeout,
            transport=self._repeating,
            run=name,
        )

    async def send(self, function: Callable[..., Awaitable[T | Other]], *arguments: Any, **named: Any) -> Answer[T]:
        """Calls the function `asyncio` of an operation, as `Kalends.send`."""
        sent = _Sent(self._http)
        return sent.answer(await function(*arguments, client=sent, **named))

    async def call(self, function: Callable[..., Awaitable[T | Other]], *arguments: Any, **named: Any) -> T:
        """The value of `send`. Raises `ApprovalPending` if a write waits for a person's approval."""
        return (await self.send(function, *arguments, **named)).value

    async def pages(
        self, function: Callable[..., Awaitable[T | Other]], *arguments: Any, **named: Any
    ) -> AsyncIterator[T]:
        """The pages of a list, one request each."""
        following: dict[str, Any] | None = named
        while following is not None:
            page = await self.call(function, *arguments, **following)
            yield page
            following = _next(page, following)

    async def items(
        self, function: Callable[..., Awaitable[Listing[T] | Other]], *arguments: Any, **named: Any
    ) -> AsyncIterator[T]:
        """The entries of a list, over all its pages."""
        async for page in self.pages(function, *arguments, **named):
            for item in page.data:
                yield item

    async def follow(
        self, since: str | None = None, *, wait: int = 30, types: str | None = None, limit: int | None = None
    ) -> AsyncIterator[OrganizationChanges]:
        """Everything that changes in the organization, as `Kalends.follow`."""
        named = {name: value for name, value in [("types", types), ("limit", limit)] if value is not None}
        while True:
            page = await self.call(list_changes.asyncio, **_since(named, since), wait=wait)
            yield page
            since = page.next_
