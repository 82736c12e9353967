"""Transports of httpx that add an `Idempotency-Key` to writes, and repeat what may be repeated."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import NoReturn
from urllib.request import getproxies, proxy_bypass

import httpx

from ._retry import HEADER, WRITES, Retry, idempotency_key, may_repeat, seconds

# There was no answer, so it is unknown whether the request was executed.
LOST = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError)


def prepare(request: httpx.Request) -> bool:
    """Adds a key to a write that has none. Returns whether the request may be repeated."""
    if request.method in WRITES and HEADER not in request.headers:
        request.headers[HEADER] = idempotency_key()
    # A body that is read from elsewhere cannot be sent again.
    return isinstance(request.stream, httpx.ByteStream) and may_repeat(request.method, HEADER in request.headers)


def proxy(base_url: str) -> httpx.Proxy | None:
    """The proxy that the environment names for an address."""
    # The clients of httpx read the environment only if they make the transport themselves.
    url = httpx.URL(base_url)
    named = getproxies()
    found = named.get(url.scheme) or named.get("all")
    # `NO_PROXY` can name a host with its port or without, and an address of IPv6 only without brackets.
    if not found or proxy_bypass(url.netloc.decode("ascii")) or proxy_bypass(url.host):
        return None
    return httpx.Proxy(found if "://" in found else f"http://{found}")


def longest(request: httpx.Request) -> float | None:
    """How long an attempt may take, in seconds. httpx bounds each part of it by the same time."""
    return (request.extensions.get("timeout") or {}).get("read")


def too_late(request: httpx.Request) -> NoReturn:
    raise httpx.ReadTimeout("the answer is not complete in time", request=request)


class _Bounded(httpx.SyncByteStream):
    """The body of an answer that must be complete at a time."""

    def __init__(
        self, inner: httpx.SyncByteStream, request: httpx.Request, end: float, clock: Callable[[], float]
    ) -> None:
        self._inner, self._request, self._end, self._clock = inner, request, end, clock

    def __iter__(self) -> Iterator[bytes]:
        for part in self._inner:
            if self._clock() > self._end:
                too_late(self._request)
            yield part

    def close(self) -> None:
        self._inner.close()


class _AsyncBounded(httpx.AsyncByteStream):
    """The same for asyncio."""

    def __init__(self, inner: httpx.AsyncByteStream, request: httpx.Request, end: float) -> None:
        self._inner, self._request, self._end = inner, request, end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts = aiter(self._inner)
        while True:
            try:
                async with asyncio.timeout_at(self._end):
                    part = await anext(parts)
            except StopAsyncIteration:
                return
            except TimeoutError:
                too_late(self._request)
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Attempts:
    """The attempts at one request."""

    def __init__(self, retry: Retry, clock: Callable[[], float], repeatable: bool) -> None:
        self.retry, self.clock, self.repeatable = retry, clock, repeatable
        self.began, self.attempt = clock(), 0

    def wait(self, response: httpx.Response | None) -> float | None:
        self.attempt += 1
        if not self.repeatable:
            return None
        status = None if response is None else response.status_code
        after = None if response is None else seconds(response.headers.get("Retry-After"))
        return self.retry.wait(self.attempt, self.clock() - self.began, status, after, random.random())


class RetryingTransport(httpx.BaseTransport):
    """Repeats requests over another transport."""

    def __init__(
        self,
        inner: httpx.BaseTransport,
        retry: Retry,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner, self._retry, self._sleep, self._clock = inner, retry, sleep, clock

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        attempts = _Attempts(self._retry, self._clock, prepare(request))
        while True:
            try:
                response = self._attempt(request)
            except LOST:
                wait = attempts.wait(None)
                if wait is None:
                    raise
            else:
                wait = attempts.wait(response)
                if wait is None:
                    return response
                response.close()
            self._sleep(wait)

    def _attempt(self, request: httpx.Request) -> httpx.Response:
        bound, began = longest(request), self._clock()
        response = self._inner.handle_request(request)
        if bound is not None and isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _Bounded(response.stream, request, began + bound, self._clock)
        return response

    def close(self) -> None:
        self._inner.close()


class AsyncRetryingTransport(httpx.AsyncBaseTransport):
    """The same for asyncio."""

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        retry: Retry,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner, self._retry, self._sleep, self._clock = inner, retry, sleep, clock

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        attempts = _Attempts(self._retry, self._clock, prepare(request))
        while True:
            try:
                response = await self._attempt(request)
            except LOST:
                wait = attempts.wait(None)
                if wait is None:
                    raise
            else:
                wait = attempts.wait(response)
                if wait is None:
                    return response
                await response.aclose()
            await self._sleep(wait)

    async def _attempt(self, request: httpx.Request) -> httpx.Response:
        bound = longest(request)
        if bound is None:
            return await self._inner.handle_async_request(request)
        end = asyncio.get_running_loop().time() + bound
        try:
            async with asyncio.timeout_at(end):
                response = await self._inner.handle_async_request(request)
        except TimeoutError:
            too_late(request)
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _AsyncBounded(response.stream, request, end)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()
