"""Uses the tools as a connector, with the official MCP client: a person approves it in Chromium, its access token
expires, and its access is revoked.

Starts the server in KALENDS_SERVER on an empty database. Works with the protocol before and since 2026-07-28.
"""

import asyncio
import json
import os
import pathlib
import tempfile
import urllib.parse

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from server import Server, at_its_address

CONSENT = pathlib.Path(__file__).parent / "consent.cjs"
EMAIL, PASSWORD, AGENT = "ada@example.com", "a long enough password", "Scout"
# Nothing listens there.
REDIRECT = "http://127.0.0.1:33418/callback"
SCOPES = "freebusy:org directory:org holds:org"
VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


class Owner:
    """The owner of a new organization, by the API."""

    def __init__(self, url):
        self.http = httpx2.Client(base_url=url, timeout=30)
        terms = self.call("GET", "/v1/auth/terms/current")["version"]
        person = {"email": EMAIL, "password": PASSWORD, "name": "Ada", "org_name": "Interop", "tos_version": terms}
        self.call("POST", "/v1/auth/signup", json=person)
        token = self.call("POST", "/v1/auth/signin", json={"email": EMAIL, "password": PASSWORD})["token"]
        self.http.headers["Authorization"] = f"Bearer {token}"

    def call(self, method, path, **named):
        answer = self.http.request(method, path, **named)
        assert answer.is_success, f"{method} {path} is {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def agent(self):
        agent = self.call("POST", "/v1/agents", json={"name": AGENT, "type": "ai"})["id"]
        self.call("POST", f"/v1/agents/{agent}/calendars", json={"name": "Work", "timezone": "Europe/Berlin"})
        return agent

    def revoke(self):
        """Revokes what the person approved."""
        [key] = [key for key in self.call("GET", "/v1/keys")["keys"] if key["label"] == "Interop"]
        self.call("DELETE", f"/v1/keys/{key['id']}")


class Storage:
    """What the program keeps."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        assert self.client is None, "the program is registered twice"
        self.client = client


class Person:
    """Decides in a browser, and counts how often."""

    def __init__(self, resource, scopes):
        self.resource, self.scopes, self.asked, self.answer = resource, scopes, 0, None

    async def opens(self, address):
        sent = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))
        assert sent["code_challenge_method"] == "S256" and sent["resource"] == self.resource, sent
        assert sent["scope"] == SCOPES, sent
        choice = {"asked": address, "email": EMAIL, "password": PASSWORD, "agent": AGENT, "scopes": self.scopes}
        command = ["node", str(CONSENT), json.dumps(choice)]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        printed, _ = await process.communicate()
        assert process.returncode == 0, f"the page has no answer: {address}"
        self.asked, self.answer = self.asked + 1, printed.decode().strip()

    async def returns(self):
        assert self.answer.startswith(f"{REDIRECT}?"), self.answer
        sent = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.answer).query))
        return AuthorizationCodeResult(code=sent["code"], state=sent["state"], iss=sent["iss"])


async def call(client, name, /, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, f"{name}: {result.content}"
    return json.loads(result.content[0].text)


async def schedules(client, day):
    """Finds a time, takes it, and finds it no more."""
    window = {"earliest": f"{day}T08:00:00Z", "latest": f"{day}T10:00:00Z", "duration_minutes": 60}
    start = (await call(client, "find_times", **window))["times"][0]["start"]
    event = await call(client, "create_event", title=f"On {day}", start=start, duration_minutes=60)
    assert event["start"] == start, event
    left = await call(client, "find_times", **window)
    assert start not in [time["start"] for time in left["times"]], left


def provider(url, storage, person):
    metadata = OAuthClientMetadata(client_name="Interop", redirect_uris=[REDIRECT])
    return OAuthClientProvider(url, metadata, storage, person.opens, person.returns)


async def connected(url, auth, mode, work):
    async with httpx2.AsyncClient(auth=auth, timeout=120) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            assert client.protocol_version == VERSIONS[mode], client.protocol_version
            return await work(client)


async def connects(owner, url, mode, day, agent):
    storage, person = Storage(), Person(url, ["freebusy:org"])
    auth = provider(url, storage, person)

    async def works(client):
        assert client.server_info.name == "kalends", client.server_info
        assert len((await client.list_tools()).tools) == 20
        shown = await call(client, "whoami")
        assert shown["agent"]["agent_id"] == agent and shown["scopes"] == ["freebusy:org"], shown
        assert storage.tokens.scope == "freebusy:org" and person.asked == 1
        await schedules(client, day)
        # An hour passes for the program.
        former, auth.context.token_expiry_time = storage.tokens, 1
        assert (await call(client, "whoami"))["agent"]["agent_id"] == agent
        assert storage.tokens.access_token != former.access_token
        assert storage.tokens.refresh_token != former.refresh_token and person.asked == 1

    async def goes_on(client):
        # The program has started again, and asks nobody.
        await call(client, "whoami")
        assert person.asked == 1
        owner.revoke()
        person.scopes = []
        shown = await call(client, "whoami")
        assert person.asked == 2 and storage.tokens.scope == "" and "scopes" not in shown, shown
        # The access was revoked before the program could know: the refresh is refused, and the person is asked again.
        owner.revoke()
        auth.context.token_expiry_time = 1
        await call(client, "whoami")
        assert person.asked == 3
        owner.revoke()

    await connected(url, auth, mode, works)
    auth = provider(url, storage, person)
    await connected(url, auth, mode, goes_on)


async def main(server):
    owner = Owner(server.url)
    agent = owner.agent()
    for day, mode in enumerate(VERSIONS, start=3):
        await connects(owner, f"{server.url}/mcp", mode, f"2031-03-0{day}", agent)
    print(f"approved, refreshed, revoked and approved again, with {' and '.join(VERSIONS.values())}")


# The server is on this machine.
os.environ["no_proxy"] = "127.0.0.1"
with tempfile.TemporaryDirectory() as folder:
    running = Server(folder, **at_its_address(), KALENDS_SIGNUP_PLAN="pro")
    try:
        asyncio.run(main(running))
    finally:
        running.stop()
