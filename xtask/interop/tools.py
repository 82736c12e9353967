"""Uses the tools with the official MCP client.

Starts the server in KALENDS_SERVER on an empty database, and works only with tools, resources and prompts: with a key of
the organization, and with an agent's key. The argument is the API description, which the list of tools is checked
against.
"""

import asyncio
import datetime
import json
import sys
import tempfile

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PaginatedRequestParams

from server import Server


class Tools:
    """One session of one key."""

    def __init__(self, session):
        self.session = session

    async def names(self):
        names, params = [], None
        while True:
            page = await self.session.list_tools(params=params)
            names += [tool.name for tool in page.tools]
            if not page.next_cursor:
                return names
            params = PaginatedRequestParams(cursor=page.next_cursor)

    async def resources(self):
        uris, params = [], None
        while True:
            page = await self.session.list_resources(params=params)
            uris += [str(resource.uri) for resource in page.resources]
            if not page.next_cursor:
                return uris
            params = PaginatedRequestParams(cursor=page.next_cursor)

    async def read(self, uri):
        result = await self.session.read_resource(uri)
        [contents] = result.contents
        assert contents.mime_type == "application/json", contents
        return json.loads(contents.text)

    async def call(self, name, /, **arguments):
        result = await self.session.call_tool(name, arguments)
        assert not result.is_error, f"{name}: {result.content}"
        return result.structured_content

    async def refused(self, name, /, **arguments):
        result = await self.session.call_tool(name, arguments)
        assert result.is_error, f"{name}: {result.content}"
        return result.structured_content["error"]


async def with_key(url, key, work):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30) as http:
        async with streamable_http_client(f"{url}/mcp?tools=all", http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                welcome = await session.initialize()
                assert welcome.server_info.name == "kalends", welcome
                return await work(Tools(session))


def moment(minutes):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)
    return at.replace(microsecond=0).isoformat()


async def schedules(tools, agent, calendar, day):
    """Asks for free slots, holds one, confirms it, and checks that it is taken."""
    window = {"start": f"{day}T08:00:00Z", "end": f"{day}T12:00:00Z", "slot_duration": "1h"}
    free = (await tools.call("getAgentAvailability", id=agent, **window))["slots"]
    assert len(free) == 4, free
    held = await tools.call(
        "createEvent",
        cal_id=calendar,
        title="Interop",
        start_time=free[1]["start"],
        end_time=free[1]["end"],
        status="hold",
        hold_expires_at=moment(5),
    )
    assert (await tools.call("confirmHold", id=held["id"]))["status"] == "confirmed"
    left = (await tools.call("getAgentAvailability", id=agent, **window))["slots"]
    assert len(left) == 3 and free[1] not in left, left
    listed = await tools.call("listCalendarEvents", cal_id=calendar)
    assert listed["limit"] == 20 and listed["data"][0]["local"]["timezone"] == "Europe/Berlin", listed
    assert (await tools.refused("getEvent", id="evt_00000000000000000000000000"))["type"] == "not_found"


async def attaches(tools, agent, calendar):
    """Reads resources, and asks for a prompt."""
    uris = await tools.resources()
    today, context = f"kalends://calendars/{calendar}/today", f"kalends://agents/{agent}/context"
    assert {"kalends://calendars", today, context} <= set(uris), uris
    agenda = await tools.read(today)
    assert agenda["calendar"]["timezone"] == "Europe/Berlin" and agenda["events"] == [], agenda
    [shown] = (await tools.read(context))["calendars"]
    assert shown["next_event"]["title"] == "Interop", shown
    templates = (await tools.session.list_resource_templates()).resource_templates
    assert len(templates) == 3, templates
    prompts = [prompt.name for prompt in (await tools.session.list_prompts()).prompts]
    assert "reschedule" in prompts, prompts
    prompt = await tools.session.get_prompt("reschedule", {"what": "Interop", "to": "tomorrow at 14:00"})
    [message] = prompt.messages
    assert message.role == "user" and "`update_event`" in message.content.text, message


def expected(description):
    """The operations that a key may call, according to the description."""
    for route, path in description["paths"].items():
        for operation in path.values():
            # The MCP endpoint itself is not a tool.
            if route != "/mcp" and any("apiKey" in scheme for scheme in operation.get("security", [])):
                yield operation["operationId"]


async def main(description, server):
    async def organizes(tools):
        names = await tools.names()
        missing = set(expected(description)) - set(names)
        assert not missing, missing
        agent = (await tools.call("createAgent", name="Ada", type="ai"))["id"]
        calendar = await tools.call("createAgentCalendar", agent_id=agent, name="Work", timezone="Europe/Berlin")
        await schedules(tools, agent, calendar["id"], "2031-03-03")
        await attaches(tools, agent, calendar["id"])
        key = await tools.call("createScopedKey", agent_id=agent, label="Interop")
        return len(names), agent, calendar["id"], key["key"]

    async def works(tools):
        await schedules(tools, agent, calendar, "2031-03-04")
        await attaches(tools, agent, calendar)
        return len(await tools.names())

    count, agent, calendar, key = await with_key(server.url, server.organization("pro"), organizes)
    fewer = await with_key(server.url, key, works)
    assert fewer < count, (fewer, count)
    print(
        f"{count} tools with a key of the organization, {fewer} with an agent's; both queried, held and confirmed, "
        "read resources and got a prompt"
    )


with open(sys.argv[1], encoding="utf-8") as file:
    DESCRIPTION = json.load(file)
with tempfile.TemporaryDirectory() as folder:
    running = Server(folder)
    try:
        asyncio.run(main(DESCRIPTION, running))
    finally:
        running.stop()
