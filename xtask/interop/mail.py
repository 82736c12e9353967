"""Sends invitations to an SMTP server that accepts, refuses, delays, falls silent or cannot be trusted.

Each scene starts the server in KALENDS_SERVER on an empty database, and a mail server of aiosmtpd. It checks what
arrives there, and what GET /v1/mail says about it. A letter that was not accepted is sent again after a minute, so some
scenes last that long. Several scenes are played at once.
"""

import asyncio
import concurrent.futures
import contextlib
import datetime
import email
import email.policy
import html
import json
import logging
import pathlib
import re
import smtplib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

from aiosmtpd.smtp import SMTP, AuthResult

from server import Server

NAME, SENDER = "Bücher & Termine", "bookings@calendar.example"
ADA, BOB, ODD = "ada@example.com", "bob@example.com", "o'hara+{1}|#$%&*/=?^_`~!@example.com"
# The seconds in which a request is answered, whatever the mail server does.
AT_ONCE = 2
# The seconds until the first attempt has ended, also if the mail server says nothing, and from then until the second has.
FIRST, SECOND = 90, 90
# In place of a reply: the mail server says nothing, and ends the connection after SILENCE seconds, or never.
SILENT, SILENCE = "silent", 3
ENDLESS = "endless"
# The most bytes of a line, without its end (RFC 5322 section 2.1.1).
LINE_MAX = 998
HEADERS = ["Auto-Submitted", "Content-Type", "Date", "From", "MIME-Version", "Message-ID", "Subject", "To"]
PARTS = ["multipart/mixed", "multipart/alternative", "text/plain", "text/html", "text/calendar", "application/ics"]
# How many scenes are played at once.
AT_A_TIME = 7
# Servers start one after another, so that those that run still answer at once.
STARTING = threading.Lock()
# All mail servers run in one thread.
LOOP = asyncio.new_event_loop()


def until(seconds, what, find):
    """What `find` finds within that time. If it finds nothing, `what()` says what there was not."""
    end = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < end, f"there was no {what()} in {seconds} s"
        time.sleep(0.2)
    return found


def unescaped(value):
    """The text of an iCalendar value (RFC 5545 section 3.3.11)."""
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] in "nN" else found[1], value)


class Taken:
    """A message that a mail server accepted."""

    def __init__(self, envelope):
        self.sender, self.recipients, self.content = envelope.mail_from, envelope.rcpt_tos, envelope.content
        self.message = email.message_from_bytes(self.content, policy=email.policy.default)

    def part(self, kind):
        """The only part of that content type."""
        found = [part for part in self.message.walk() if part.get_content_type() == kind]
        assert len(found) == 1, f"{len(found)} parts are {kind}"
        return found[0]

    def text(self, kind):
        """The text of that part, without the spaces of no width that keep it from becoming a link."""
        return self.part(kind).get_content().replace("\r\n", "\n").replace("\u200b", "")

    def subject(self):
        return self.message["Subject"].replace("\u200b", "")

    def calendar(self, name):
        """The lines of the iCalendar part that begin with that name, unfolded, without those spaces."""
        text = self.part("text/calendar").get_content().replace("\r\n ", "").replace("\u200b", "")
        return [line for line in text.split("\r\n") if re.match(f"{name}[:;]", line)]


class Connection(SMTP):
    """A connection to a mail server, which keeps what it hears."""

    def data_received(self, data):
        self.event_handler.heard += data
        super().data_received(data)

    async def _handle_client(self):
        if reply := await self.event_handler.scripted(self, "connect"):
            await self.push(reply)
            self.transport.close()
        else:
            await super()._handle_client()


class MailServer:
    """A mail server. `script` has replies for the steps `connect`, `RCPT ADDRESS` and `DATA`. Each is given once, and
    then everything is accepted. It has its port from the start, and listens there later.
    """

    def __init__(self, script, host, wrapped, settings):
        self.script, self.wrapped, self.settings = script, wrapped, settings
        self.heard, self.connections, self.asked, self.taken = b"", 0, [], []
        self.socket = socket.socket()
        self.socket.bind((host, 0))
        self.host, self.port = self.socket.getsockname()
        self.server = None

    def listen(self):
        listening = LOOP.create_server(self.connection, sock=self.socket, ssl=self.wrapped)
        self.server = asyncio.run_coroutine_threadsafe(listening, LOOP).result()

    def connection(self):
        self.connections += 1
        return Connection(self, loop=LOOP, hostname="mail.example.com", **self.settings)

    def stop(self):
        if self.server:
            LOOP.call_soon_threadsafe(self.server.close)
        else:
            self.socket.close()

    async def scripted(self, connection, step):
        """The next reply that the script has for a step, if any."""
        replies = self.script.get(step)
        reply = replies.pop(0) if replies else None
        if reply is SILENT:
            LOOP.call_later(SILENCE, connection.transport.abort)
        if reply in (SILENT, ENDLESS):
            # The end of the connection cancels this.
            await asyncio.sleep(600)
        return reply

    async def handle_RCPT(self, connection, session, envelope, address, options):
        self.asked.append(address)
        if reply := await self.scripted(connection, f"RCPT {address}"):
            return reply
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, connection, session, envelope):
        if reply := await self.scripted(connection, "DATA"):
            return reply
        self.taken.append(Taken(envelope))
        return "250 OK"

    def commands(self):
        """The commands that it heard, inside and outside TLS."""
        return {line.split(b" ")[0].decode().upper() for line in self.heard.split(b"\r\n")}

    def messages(self, count, seconds):
        """That many messages. There must not be more."""
        until(seconds, lambda: f"message {count}; there were {len(self.taken)}", lambda: len(self.taken) >= count)
        assert len(self.taken) == count, f"{len(self.taken)} messages arrived instead of {count}"
        return self.taken


class Kalends:
    """A Kalends server, which sends its mail to a URL, and a calendar there."""

    def __init__(self, folder, url):
        self.folder, self.settings = folder, {"KALENDS_MAIL": url, "KALENDS_MAIL_FROM": f"{NAME} <{SENDER}>"}
        self.start()
        try:
            with STARTING:
                self.key = self.server.organization("pro")
            calendar = self.call("POST", "/v1/calendars", {"name": "Work", "timezone": "Europe/Berlin"}, 201)
            self.events = f"/v1/calendars/{calendar['id']}/events"
        except BaseException:
            self.kill()
            raise

    def start(self):
        with STARTING:
            self.server = Server(self.folder, **self.settings)

    def stop(self):
        self.server.stop()

    def kill(self):
        self.server.process.kill()
        self.server.process.wait()

    def call(self, method, path, body=None, expected=200):
        """The answer to a request. It must come at once."""
        body = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.server.url + path, body, headers, method=method)
        begun = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, content = answer.status, answer.read()
        except urllib.error.HTTPError as answer:
            status, content = answer.code, answer.read()
        took = time.monotonic() - begun
        assert status == expected, f"{method} {path}: {status} {content.decode()}"
        assert took < AT_ONCE, f"{method} {path} took {took:.1f} s"
        return json.loads(content)

    def invite(self, *attendees, expected=201, **fields):
        """Creates an event and invites people to it, by address or with all fields of an attendee."""
        attendees = [{"email": one} if isinstance(one, str) else one for one in attendees]
        times = {"start_time": "2031-03-03T09:00:00Z", "end_time": "2031-03-03T10:00:00Z"}
        event = {"title": "Review", **times, "attendees": attendees, "send_invitations": True} | fields
        return self.call("POST", self.events, event, expected)

    def letters(self, address):
        """What is known about the letters to an address, the newest first."""
        return [letter for letter in self.call("GET", "/v1/mail")["data"] if letter["to"] == address]

    def letter(self, address, status, attempts, code):
        """The letter to an address once it has that status after that number of attempts. The last reply has that code."""

        def found():
            return [of for of in self.letters(address) if (of["status"], of["attempts"]) == (status, attempts)]

        wanted = f"letter that is {status} after {attempts} attempts"
        letter = until(FIRST, lambda: f"{wanted}; there is {self.letters(address)}", found)[0]
        assert letter["last_reply"] and letter["last_reply"]["code"] == code, f"not the reply {code}: {letter}"
        waits = letter["next_attempt_at"] is not None
        assert waits == (status == "pending"), f"a letter that is {status} must not have this next attempt: {letter}"
        assert (letter["ended_at"] is None) == waits, f"a letter ends when no attempt follows: {letter}"
        return letter


class Stage:
    """The servers of one scene, which end with it."""

    def __init__(self, folder, ends):
        self.folder, self.ends = folder, ends

    def mail(self, script=None, host="127.0.0.1", wrapped=None, listens=True, **settings):
        server = MailServer(script or {}, host, wrapped, settings)
        self.ends.callback(server.stop)
        if listens:
            server.listen()
        return server

    def kalends(self, mail, scheme="smtp", account=""):
        """A Kalends server that sends to that mail server."""
        folder = tempfile.mkdtemp(dir=self.folder)
        server = Kalends(folder, f"{scheme}://{account}{mail.host}:{mail.port}")
        self.ends.callback(server.stop)
        return server

    def certificate(self, address):
        """A certificate for an address that nobody vouches for, as a mail server uses it."""
        key, certificate = pathlib.Path(self.folder, "key.pem"), pathlib.Path(self.folder, "certificate.pem")
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        command += ["-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=mail.example.com"]
        subprocess.run([*command, "-addext", f"subjectAltName=IP:{address}"], check=True, capture_output=True)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
        return context


def invitation(stage):
    """An invitation arrives once for each attendee, with all of its parts, and no text gets out of its place."""
    mail = stage.mail()
    kalends = stage.kalends(mail)
    title = 'Grüße, "Köln"; 🎉 Plan\r\nBcc: mallory@example.com\r\n\r\nand <b>beer</b>'
    names = {ADA: 'Ada "Countess" Löwe; X=1, Y:2 <b>🎉</b>', BOB: "B" * 200, ODD: "Eve \u202e\\n;CN=Mallory:"}
    kalends.invite(*[{"email": address, "name": name} for address, name in names.items()], title=title)
    taken = {address: found for found in mail.messages(3, FIRST) for address in found.recipients}
    assert sorted(taken) == sorted(names), f"not one message for each: {sorted(taken)}"
    for address, found in taken.items():
        is_whole(found, address)
        has_title(found, title)
        sent = kalends.letter(address, "sent", 1, 250)
        assert sent["subject"].replace("\u200b", "").split() == f"Invitation: {title}".split(), sent
    # The last two: in a header, the first could be decoded to a link. In the second, spaces could be lost between words
    # that are encoded (RFC 2047 section 6.2).
    linking, spaced = "see =?utf-8?q?https=3A=2F=2Fexample=2Ecom?=", "Grüße\r\n für  Köln"
    titles = {"ä🎉" * 250: ADA, "x" * 500: ADA, "x." * 250: ADA, linking: BOB, spaced: BOB}
    for title, address in titles.items():
        kalends.invite(address, title=title)
        found = mail.messages(len(taken) + 1, FIRST)[-1]
        taken[title] = found
        is_whole(found, address)
        has_title(found, title)
    ids = {found.message["Message-ID"] for found in taken.values()}
    assert len(ids) == len(taken), f"messages share an identifier: {ids}"
    for wrong in [{"name": "Eve\r\nBcc: eve@example.com"}, {"email": "eve@example.com>\r\nRCPT TO:<ada@example.com"}]:
        kalends.invite({"email": BOB} | wrong, expected=400)
    mail.messages(len(taken), 0)


def is_whole(taken, address):
    """Checks the envelope, the headers and the structure of an invitation."""
    message = taken.message
    assert (taken.sender, taken.recipients) == (SENDER, [address]), f"{taken.sender} to {taken.recipients}"
    assert sorted(message.keys()) == HEADERS, f"not the headers of an invitation: {message.keys()}"
    (sender,), (recipient,) = message["From"].addresses, message["To"].addresses
    assert (sender.display_name, sender.addr_spec) == (NAME, SENDER), f"from {sender}"
    assert (recipient.display_name, recipient.addr_spec) == ("", address), f"to {recipient}"
    assert message["Auto-Submitted"] == "auto-generated", message["Auto-Submitted"]
    assert abs(message["Date"].datetime.timestamp() - time.time()) < 300, message["Date"]
    parts = list(message.walk())
    assert [part.get_content_type() for part in parts] == PARTS, [part.get_content_type() for part in parts]
    flaws = [part.defects for part in parts] + [value.defects for part in parts for value in part.values()]
    assert not any(flaws), f"the message has flaws: {flaws}"
    calendar, file = taken.part("text/calendar"), taken.part("application/ics")
    assert calendar["Content-Type"].params["method"] == "REQUEST", calendar["Content-Type"]
    assert (file.is_attachment(), file.get_filename()) == (True, "invite.ics"), file["Content-Disposition"]
    assert file.get_content() == calendar.get_content().encode(), "the attachment is not the iCalendar part"
    attendees = taken.calendar("ATTENDEE")
    assert len(attendees) == 1 and urllib.parse.unquote(attendees[0]).endswith(f":mailto:{address}"), attendees
    has_plain_lines(taken.content)


def has_plain_lines(content):
    """Checks the ends and the lengths of all lines, and that headers are ASCII."""
    lines = content.split(b"\r\n")
    assert not any(b"\r" in line or b"\n" in line for line in lines), "a line has another end than CRLF"
    longest = max(map(len, lines))
    assert longest <= LINE_MAX, f"a line has {longest} bytes"
    assert content.partition(b"\r\n\r\n")[0].isascii(), "a header is not ASCII"


def has_title(taken, title):
    """Checks the title of the event wherever a message has it. The number of spaces does not count."""
    line = " ".join(title.split())
    texts = [taken.subject(), taken.text("text/plain"), taken.text("text/html")]
    subject, text, page = [" ".join(text.split()) for text in texts]
    assert subject == f"Invitation: {line}", f"{title!r} became the subject {subject!r}"
    assert f'invites you to "{line}"' in text, text
    assert html.escape(line) in page and "<b>beer" not in page, page
    (summary,) = taken.calendar("SUMMARY")
    assert unescaped(summary.removeprefix("SUMMARY:")).split() == title.split(), summary


def refusal(stage):
    """A letter to a mailbox that does not exist is not sent again, and another attendee's letter arrives."""
    mail = stage.mail({f"RCPT {BOB}": ["550 5.1.1 no such mailbox"]})
    kalends = stage.kalends(mail)
    kalends.invite(ADA, BOB)
    refused = kalends.letter(BOB, "refused", 1, 550)
    assert "5.1.1 no such mailbox" in refused["last_reply"]["text"], refused
    kalends.letter(ADA, "sent", 1, 250)
    listed = kalends.call("GET", "/v1/mail?status=refused")["data"]
    assert [letter["id"] for letter in listed] == [refused["id"]], listed
    # The time of a second attempt.
    time.sleep(65)
    assert mail.asked.count(BOB) == 1, f"{BOB} was tried {mail.asked.count(BOB)} times"
    assert mail.messages(1, 0)[0].recipients == [ADA], mail.taken[0].recipients


def refusal_for_now(stage):
    """A letter that the mail server refuses for another reason is kept."""
    mail = stage.mail({f"RCPT {ADA}": ["550 5.7.1 relaying denied"]})
    kalends = stage.kalends(mail)
    kalends.invite(ADA)
    kept = kalends.letter(ADA, "pending", 1, 550)
    waits = datetime.datetime.fromisoformat(kept["next_attempt_at"].replace("Z", "+00:00")).timestamp() - time.time()
    assert 0 < waits <= 60, f"the next attempt is in {waits} s: {kept}"
    mail.messages(0, 0)


def greylisting(stage):
    """A letter that the mail server wants to see again later arrives a minute later, once."""
    mail = stage.mail({f"RCPT {ADA}": ["451 4.7.1 greylisted, try again later"]})
    kalends = stage.kalends(mail)
    kalends.invite(ADA)
    begun = time.monotonic()
    kalends.letter(ADA, "pending", 1, 451)
    mail.messages(1, SECOND)
    took = time.monotonic() - begun
    assert 55 < took < SECOND, f"the message arrived after {took:.0f} s"
    kalends.letter(ADA, "sent", 2, 250)
    time.sleep(5)
    mail.messages(1, 0)


def dead_server(stage):
    """A letter arrives although nothing listened at the port at first."""
    mail = stage.mail(listens=False)
    kalends = stage.kalends(mail)
    kalends.invite(ADA)
    kalends.letter(ADA, "pending", 1, None)
    mail.listen()
    mail.messages(1, SECOND)
    kalends.letter(ADA, "sent", 2, 250)


def killed(stage):
    """A letter arrives although Kalends was killed between two attempts."""
    mail = stage.mail(listens=False)
    kalends = stage.kalends(mail)
    kalends.invite(ADA)
    kalends.letter(ADA, "pending", 1, None)
    kalends.kill()
    mail.listen()
    kalends.start()
    until(SECOND, lambda: "message", lambda: mail.taken)
    kalends.letter(ADA, "sent", 2, 250)


def silence(stage):
    """Requests are answered although the mail server says nothing, and the letter arrives later."""
    mail = stage.mail({"connect": [SILENT]})
    kalends = stage.kalends(mail)
    kalends.invite(ADA)
    until(FIRST, lambda: "connection", lambda: mail.connections)
    kalends.invite()
    kalends.call("GET", kalends.events)
    kalends.letter(ADA, "pending", 1, None)
    mail.messages(1, SECOND)
    kalends.letter(ADA, "sent", 2, 250)


def lost_reply(stage):
    """A letter whose message got no reply is sent again."""
    mail = stage.mail({"DATA": [SILENT]})
    kalends = stage.kalends(mail)
    kalends.invite(ADA)
    kalends.letter(ADA, "pending", 1, None)
    until(SECOND, lambda: "message", lambda: mail.taken)
    kalends.letter(ADA, "sent", 2, 250)


def endless_silence(stage):
    """An attempt ends by itself although the mail server keeps the connection and says nothing."""
    mails = [stage.mail({step: [ENDLESS]}) for step in ("connect", f"RCPT {ADA}", "DATA")]
    servers = [stage.kalends(mail) for mail in mails]
    for kalends in servers:
        kalends.invite(ADA)
    for kalends in servers:
        kalends.letter(ADA, "pending", 1, None)


def busy_and_full(stage):
    """A letter is kept if the mail server is busy, or finds the message too big."""
    mail = stage.mail({"connect": ["421 4.3.2 busy"], "DATA": ["552 5.3.4 message too big"]})
    kalends = stage.kalends(mail)
    for address, code, text in [(ADA, 421, "refused the connection"), (BOB, 552, "5.3.4 message too big")]:
        kalends.invite(address)
        kept = kalends.letter(address, "pending", 1, code)
        assert text in kept["last_reply"]["text"], kept
    mail.messages(0, 0)


def own_address():
    """An address of this machine that is not a loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent. The system chooses the address that it would send from.
            probe.connect(("198.51.100.1", 9))
        except OSError as error:
            raise AssertionError("this machine needs a network address besides the loopback addresses") from error
        address = probe.getsockname()[0]
    assert not address.startswith("127."), f"this machine has only the loopback address {address}"
    return address


def gets_nothing(stage, mail, address, **how):
    """Checks that a letter is kept, and that the mail server gets neither an account nor a message."""
    connections = mail.connections
    kalends = stage.kalends(mail, **how)
    kalends.invite(address)
    letter = kalends.letter(address, "pending", 1, None)
    assert "could not be secured" in letter["last_reply"]["text"], letter
    assert mail.connections > connections, "the mail server was not tried"
    got = mail.commands() & {"AUTH", "MAIL", "RCPT", "DATA"}
    assert not got, f"the mail server got {got}"


def careless():
    """Settings of a client that does not check certificates."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def takes_accounts(mail, client):
    """Checks that the mail server would have got the account of a careless client."""
    with client:
        with contextlib.suppress(smtplib.SMTPAuthenticationError):
            client.login("user", "secret")
    assert "AUTH" in mail.commands(), mail.commands()


def unknown_starttls(stage):
    """A mail server elsewhere whose certificate nobody vouches for gets nothing."""
    address = own_address()
    mail = stage.mail(host=address, tls_context=stage.certificate(address))
    gets_nothing(stage, mail, ADA, account="user:secret@")
    gets_nothing(stage, mail, BOB)
    assert "STARTTLS" in mail.commands(), mail.commands()
    client = smtplib.SMTP(mail.host, mail.port, timeout=30)
    client.starttls(context=careless())
    takes_accounts(mail, client)


def no_starttls(stage):
    """A mail server elsewhere that does not offer STARTTLS gets nothing of an account."""
    mail = stage.mail(host=own_address(), auth_require_tls=False)
    gets_nothing(stage, mail, ADA, account="user:secret@")
    assert "EHLO" in mail.commands(), mail.commands()
    takes_accounts(mail, smtplib.SMTP(mail.host, mail.port, timeout=30))


def unknown_tls(stage):
    """A mail server with TLS from the first byte whose certificate nobody vouches for gets nothing."""
    mail = stage.mail(wrapped=stage.certificate("127.0.0.1"), auth_require_tls=False)
    gets_nothing(stage, mail, ADA, scheme="smtps", account="user:secret@")
    assert not mail.heard, mail.heard
    takes_accounts(mail, smtplib.SMTP_SSL(mail.host, mail.port, timeout=30, context=careless()))


def accounts(stage):
    """The account in the URL is decoded, and a letter is kept if the mail server does not accept the password."""
    given = []

    def knows(connection, session, envelope, mechanism, account):
        given.append((account.login, account.password))
        return AuthResult(success=account.password == b"p@ss", handled=False)

    mail = stage.mail(auth_require_tls=False, authenticator=knows)
    right = stage.kalends(mail, account="user:p%40ss@")
    right.invite(ADA)
    right.letter(ADA, "sent", 1, 250)
    wrong = stage.kalends(mail, account="user:pass@")
    wrong.invite(BOB)
    wrong.letter(BOB, "pending", 1, 535)
    assert given == [(b"user", b"p@ss"), (b"user", b"pass")], given
    assert mail.messages(1, 0)[0].recipients == [ADA], mail.taken[0].recipients


def dots_and_letters(stage):
    """Lines that begin with dots, and long lines of any letters, arrive unchanged."""
    mail = stage.mail()
    kalends = stage.kalends(mail)
    # Where a line of quoted-printable ends depends on the length. At one of them, the next line begins with a dot.
    dots = [".", "..", "...dots", ". dot", *["x" * length + ". ." for length in range(60, 76)]]
    written = {ADA: dots, BOB: ["ä🎉." * 500], ODD: ["y" * 1990]}
    for address, lines in written.items():
        kalends.invite(address, description="\n".join(lines))
    for found in mail.messages(len(written), FIRST):
        has_plain_lines(found.content)
        lines = written[found.recipients[0]]
        quoted = [line[2:] for line in found.text("text/plain").split("\n") if line.startswith("> ")]
        assert quoted == lines, quoted
        (description,) = found.calendar("DESCRIPTION")
        text = unescaped(description.removeprefix("DESCRIPTION:"))
        assert text.startswith("\n".join(lines)), text
    assert b"\r\n.." in mail.heard, "no line of a message began with a dot"


# The longest first.
SCENES = [
    refusal,
    greylisting,
    dead_server,
    killed,
    silence,
    lost_reply,
    endless_silence,
    unknown_starttls,
    unknown_tls,
    no_starttls,
    accounts,
    invitation,
    dots_and_letters,
    busy_and_full,
    refusal_for_now,
]


def play(scene):
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ends:
        scene(Stage(folder, ends))
    print(f"{scene.__name__}: {scene.__doc__}", flush=True)


# Clients that break connections off are no news here.
logging.getLogger("mail.log").setLevel(logging.CRITICAL)
threading.Thread(target=LOOP.run_forever, daemon=True).start()
with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
    played = {scene.__name__: pool.submit(play, scene) for scene in SCENES}
failed = [name for name, result in played.items() if result.exception()]
for name in failed:
    traceback.print_exception(played[name].exception())
sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
