"""Connects accounts at two CalDAV servers, Radicale and Xandikos, and compares what an agent sees with what is there.

Starts each of them on loopback, fills a calendar, and connects it to the server in KALENDS_SERVER as a user would. The
programs `radicale` and `xandikos` must be on PATH. Prints one line for each check.
"""

import atexit
import base64
import datetime
import http.client
import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from server import Server, at_its_address

USER, PASSWORD, OWN = "user", "an-app-password/1", "mailto:ada@example.com"
PERSON = {"email": "ada@example.com", "password": "a long enough password"}
PRINCIPAL = f"/{USER}/"
CONNECT = "/v1/calendar-connections/caldav"
# The longest wait for something that happens soon, in seconds.
PATIENCE = 60
DAY = datetime.timedelta(days=1)
MINUTE = datetime.timedelta(minutes=1)
BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
ADDRESSES = """<?xml version="1.0" encoding="utf-8"?>
<propfind xmlns="DAV:"><prop><C:calendar-user-address-set xmlns:C="urn:ietf:params:xml:ns:caldav"/></prop></propfind>"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, ask):
    """Repeats the question until it has an answer other than None."""
    began = time.monotonic()
    while True:
        answer = ask()
        if answer is not None:
            return answer
        if time.monotonic() - began > PATIENCE:
            sys.exit(f"not {what}")
        time.sleep(0.5)


class Dav:
    """A CalDAV server on loopback with one user, and a client of it."""

    def __init__(self, name, calendar, folder):
        self.name, self.calendar, self.folder = name, calendar, pathlib.Path(folder)
        self.port = self.behind = free_port()
        self.process = None

    def start(self, *command):
        """Runs the program, and waits until it listens."""
        log = self.folder / f"{self.name}.log"
        environment = os.environ | {"EMAIL": OWN.removeprefix("mailto:"), "HOME": str(self.folder)}
        with open(log, "wb") as output:
            self.process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        # Also if a check fails before the end.
        atexit.register(self.process.kill)

        def ask():
            if self.process.poll() is not None:
                sys.exit(f"{self.name} has ended: {log.read_text(errors='replace')[-2000:]}")
            with socket.socket() as probe:
                return True if probe.connect_ex(("127.0.0.1", self.behind)) == 0 else None

        until(f"listening: {self.name}", ask)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def ask(self, method, path, body="", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body.encode(), {"Authorization": BASIC} | headers)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        connection.close()
        if answer.status >= 300:
            sys.exit(f"{self.name} answers {method} {path} with {answer.status} {text}")
        return text

    def put(self, name, components):
        text = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Interop//EN\r\n{components}END:VCALENDAR\r\n"
        self.ask("PUT", f"{self.calendar}{name}.ics", text, Content_Type="text/calendar; charset=utf-8")

    def knows_addresses(self):
        """Whether the server names the address of its user. Without it, nobody knows which reply is the user's."""
        found = self.ask("PROPFIND", PRINCIPAL, ADDRESSES, Depth="0", Content_Type="application/xml; charset=utf-8")
        return OWN in found.lower()

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=PATIENCE)


class Radicale(Dav):
    def __init__(self, folder):
        super().__init__("radicale", f"{PRINCIPAL}work/", folder)
        users, settings = self.folder / "users", self.folder / "radicale.conf"
        users.write_text(f"{USER}:{PASSWORD}\n")
        settings.write_text(
            f"[server]\nhosts = {self.address}\n"
            f"[auth]\ntype = htpasswd\nhtpasswd_filename = {users}\nhtpasswd_encryption = plain\n"
            f"[storage]\nfilesystem_folder = {self.folder / 'collections'}\n"
        )
        self.start("radicale", "--config", str(settings))
        self.ask("MKCALENDAR", self.calendar)


class Xandikos(Dav):
    """Xandikos checks no passwords, so a proxy in front of it does."""

    def __init__(self, folder):
        super().__init__("xandikos", f"{PRINCIPAL}calendars/calendar/", folder)
        self.behind = free_port()
        data = self.folder / "collections"
        data.mkdir()
        listen = ["--listen-address", "127.0.0.1", "--port", str(self.behind)]
        self.start("xandikos", *listen, "--directory", str(data), "--current-user-principal", PRINCIPAL, "--defaults")
        self.proxy = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), guard(self.behind))
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()

    def stop(self):
        self.proxy.shutdown()
        super().stop()


def guard(port):
    """A handler that passes requests with the right credentials on to a port."""

    class Guard(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def passes(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Authorization") != BASIC:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="calendars"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            left_out = ("authorization", "connection", "content-length", "accept-encoding")
            headers = {name: value for name, value in self.headers.items() if name.lower() not in left_out}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "content-length", "transfer-encoding", "date", "server"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_OPTIONS = do_PROPFIND = do_PUT = do_REPORT = passes

    return Guard


def utc(moment):
    return moment.strftime("%Y%m%dT%H%M%SZ")


def event(uid, *properties, start=None, length=30 * MINUTE):
    """An event with these properties; at a time, if there is one."""
    times = [f"DTSTART:{utc(start)}", f"DTEND:{utc(start + length)}"] if start else []
    lines = [f"UID:{uid}", "DTSTAMP:20260101T000000Z", f"SUMMARY:The title of {uid}", *times, *properties]
    return "BEGIN:VEVENT\r\n" + "".join(f"{line}\r\n" for line in lines) + "END:VEVENT\r\n"


def fill(dav, day):
    """Fills the calendar. Returns for each kind of event the times that block, and those that do not."""

    def at(days, minutes=0):
        return day + days * DAY + minutes * MINUTE

    def date(days):
        return at(days).strftime("%Y%m%d")

    # Every day five times: the second is moved, and the third is left out.
    series = event("series", "RRULE:FREQ=DAILY;COUNT=5", f"EXDATE:{utc(at(2, 480))}", start=at(0, 480))
    moved = event("series", f"RECURRENCE-ID:{utc(at(1, 480))}", start=at(1, 600), length=60 * MINUTE)
    dav.put("series", series + moved)
    # 9:00 in Tokyo is midnight in UTC.
    zone = [
        "BEGIN:VTIMEZONE", "TZID:Asia/Tokyo", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0900",
        "TZOFFSETTO:+0900", "TZNAME:JST", "END:STANDARD", "END:VTIMEZONE",
    ]  # fmt: skip
    start = f"DTSTART;TZID=Asia/Tokyo:{date(1)}T090000"
    dav.put("zone", "".join(f"{line}\r\n" for line in zone) + event("zone", start, "DURATION:PT15M"))
    whole = [f"DTSTART;VALUE=DATE:{date(5)}", f"DTEND;VALUE=DATE:{date(6)}"]
    dav.put("whole", event("whole", *whole, "TRANSP:OPAQUE"))
    dav.put("birthday", event("birthday", f"DTSTART;VALUE=DATE:{date(6)}", "TRANSP:TRANSPARENT"))
    dav.put("transparent", event("transparent", "TRANSP:TRANSPARENT", start=at(0, 660)))
    dav.put("cancelled", event("cancelled", "STATUS:CANCELLED", start=at(0, 720)))
    organizer = "ORGANIZER:mailto:grace@example.com"
    declined = [organizer, f"ATTENDEE;PARTSTAT=DECLINED:{OWN}"]
    dav.put("declined", event("declined", *declined, start=at(0, 780)))
    accepted = [organizer, f"ATTENDEE;PARTSTAT=ACCEPTED:{OWN}", "ATTENDEE;PARTSTAT=DECLINED:mailto:eve@example.com"]
    dav.put("accepted", event("accepted", *accepted, start=at(0, 840)))
    dav.put("past", event("past", start=at(-400)))
    half = 30 * MINUTE
    recurring = [(at(days, 480), at(days, 480) + half) for days in (0, 3, 4)]
    blocking = {
        "a series with a moved and an excluded day": sorted([*recurring, (at(1, 600), at(1, 660))]),
        "an event in a zone": [(at(1), at(1, 15))],
        "a whole day": [(at(5), at(6))],
        "an accepted event": [(at(0, 840), at(0, 840) + half)],
    }
    free = {
        "a moved and an excluded day": [(at(days, 480), at(days, 480) + half) for days in (1, 2)],
        "a transparent event": [(at(0, 660), at(0, 660) + half)],
        "a transparent day": [(at(6), at(7))],
        "a cancelled event": [(at(0, 720), at(0, 720) + half)],
    }
    times = [(at(0, 780), at(0, 780) + half)]
    if dav.knows_addresses():
        free["a declined event"] = times
    else:
        blocking["a declined event of a user whose address the server does not name"] = times
    return blocking, free


class Human:
    """A user who has signed up, and the key of their organization."""

    def __init__(self, url):
        self.url = url
        terms = self.call("GET", "/v1/auth/terms/current")["version"]
        signing_up = PERSON | {"name": "Ada", "org_name": "Interop", "tos_version": terms}
        self.key = self.call("POST", "/v1/auth/signup", signing_up)["api_key"]
        self.session = self.call("POST", "/v1/auth/signin", PERSON)["token"]

    def send(self, method, path, body=None, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, content, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=70) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def call(self, method, path, body=None, token=None):
        status, answer = self.send(method, path, body, token)
        if status >= 300:
            sys.exit(f"{method} {path} is {status} {answer}")
        return answer

    def connected(self, dav, agent):
        """Connects the account, and grants its calendar to an agent. Returns the connection's path."""
        login = {"url": f"http://{dav.address}/", "username": USER, "password": PASSWORD}
        status, refused = self.send("POST", CONNECT, login | {"password": "wrong"}, self.session)
        check(dav, "a wrong password is refused", (400, "password"), (status, refused["error"].get("param")))
        status, made = self.send("POST", CONNECT, login, self.session)
        check(dav, "the account is connected", 201, status)
        path = f"/v1/calendar-connections/{made['id']}"
        calendars = self.call("GET", f"{path}/external-calendars", token=self.session)["data"]
        check(dav, "its one calendar is found", 1, len(calendars))
        granted = {"external_calendar_ids": [calendars[0]["id"]], "audience": "selected", "agent_ids": [agent]}
        self.call("POST", "/v1/availability-grants", granted, self.session)
        return path

    def refreshed(self, path, before):
        """Waits for a refresh after the one that ended at `before`. Returns the connection."""

        def ask():
            known = self.call("GET", path, token=self.session)
            return known if known["last_refreshed_at"] not in (None, before) else None

        return until("refreshed", ask)

    def refresh(self, path):
        before = self.call("GET", path, token=self.session)["last_refreshed_at"]
        self.call("POST", f"{path}/refresh", token=self.session)
        return self.refreshed(path, before)


def check(dav, what, wanted, found):
    if wanted != found:
        sys.exit(f"{dav.name}: {what}: wanted {wanted!r}, found {found!r}")
    print(f"{dav.name}: {what}")


def busy(human, calendar, day):
    """The busy times of the week, as pairs of times."""
    ends = [moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in (day, day + 7 * DAY)]
    query = f"start={ends[0]}&end={ends[1]}&include_busy=true"
    known = human.call("GET", f"/v1/calendars/{calendar}/availability?{query}", token=human.key)
    if known["availability_state"] != "complete":
        return None
    spans = [(span["start"], span["end"]) for span in known["busy"]]
    return [tuple(datetime.datetime.fromisoformat(edge.replace("Z", "+00:00")) for edge in span) for span in spans]


def compare(dav, folder):
    today = datetime.datetime.now(datetime.timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    day = today + 7 * DAY
    blocking, free = fill(dav, day)
    server = Server(folder, **at_its_address(), KALENDS_EGRESS_ALLOW=dav.address)
    try:
        human = Human(server.url)
        agent = human.call("POST", "/v1/agents", {"name": "Scout", "type": "ai"}, human.key)["id"]
        calendar = {"name": "Work", "timezone": "UTC"}
        calendar = human.call("POST", f"/v1/agents/{agent}/calendars", calendar, human.key)["id"]
        path = human.connected(dav, agent)
        found = until("busy", lambda: busy(human, calendar, day) or None)
        for what, spans in blocking.items():
            check(dav, f"{what} blocks", spans, [span for span in found if span in spans])
        for what, spans in free.items():
            overlapping = [span for span in found if any(span[0] < end and start < span[1] for start, end in spans)]
            check(dav, f"{what} does not block", [], overlapping)
        blocked = sorted(span for spans in blocking.values() for span in spans)
        check(dav, "nothing else blocks", blocked, found)

        known = human.refresh(path)
        check(dav, "an unchanged calendar stays as it is", blocked, busy(human, calendar, day))
        check(dav, "every event is read", ("active", None), (known["status"], known["last_error"]))
        later = day + 2 * DAY + 1_200 * MINUTE
        dav.put("later", event("later", start=later))
        human.refresh(path)
        check(dav, "a change is read", sorted([*blocked, (later, later + 30 * MINUTE)]), busy(human, calendar, day))
        human.call("DELETE", path, token=human.session)
        check(dav, "a deleted connection blocks nothing", [], busy(human, calendar, day))
    finally:
        server.stop()


def main():
    for kind in (Radicale, Xandikos):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as data:
            dav = kind(folder)
            try:
                compare(dav, data)
            finally:
                dav.stop()


main()
