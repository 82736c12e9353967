"""Reads invitations with icalendar and vobject, and compares what they say with what was written.

The argument is the output file of the example `invitations` of kalends-feeds.
"""

import datetime
import json
import sys
import zoneinfo

import icalendar
import recurring_ical_events
import vobject

UTC = datetime.timezone.utc


def seconds(value, zone):
    """A date or time in seconds since 1970. Whole days are days of `zone`."""
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day, tzinfo=zone)
    return int(value.astimezone(UTC).timestamp())


def check(wanted, found, what):
    if wanted != found:
        sys.exit(f"{what}: wanted {wanted!r}, found {found!r}")


def by_icalendar(message, zone):
    calendar = icalendar.Calendar.from_ical(message["text"])
    what = f"icalendar, {message['name']}"
    check([], calendar.errors, what)
    check(message["method"], str(calendar["METHOD"]), what)
    events = list(calendar.walk("VEVENT"))
    for event in events:
        check([], event.errors, what)
        check(message["uid"], str(event["UID"]), what)
        check(message["sequence"], int(event["SEQUENCE"]), what)
        check(message["attendee"], str(event["ATTENDEE"]), what)
        check("mailto:no-reply@example.com", str(event["ORGANIZER"]), what)
        check(message["status"], str(event["STATUS"]) if "STATUS" in event else None, what)
    first = events[0]
    check(message["summary"], str(first["SUMMARY"]), what)
    check(message["partstat"], str(first["ATTENDEE"].params["PARTSTAT"]), what)
    found = seconds(first["RECURRENCE-ID"].dt, zone) if "RECURRENCE-ID" in first else None
    check(message["recurrence_id"], found, what)
    if message["recurrence_id"] is None:
        occurrences = recurring_ical_events.of(calendar).between((2026, 1, 1), (2027, 1, 1))
        check(message["starts"], sorted(seconds(event["DTSTART"].dt, zone) for event in occurrences), what)
    else:
        check(message["starts"], [seconds(first["DTSTART"].dt, zone)], what)


def by_vobject(message, zone):
    calendar = vobject.readOne(message["text"])
    what = f"vobject, {message['name']}"
    check(message["method"], calendar.method.value, what)
    event = calendar.vevent
    check(message["uid"], event.uid.value, what)
    check(str(message["sequence"]), event.sequence.value, what)
    check(message["attendee"], event.attendee.value, what)
    check(message["partstat"], event.attendee.partstat_param, what)
    check(message["summary"], event.summary.value, what)
    check(message["status"], event.status.value if hasattr(event, "status") else None, what)
    if len(calendar.vevent_list) == 1 and not hasattr(event, "rrule"):
        check(message["starts"], [seconds(event.dtstart.value, zone)], what)


def main():
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    with open(sys.argv[1], encoding="utf-8") as file:
        messages = json.load(file)
    for message in messages:
        by_icalendar(message, zone)
        by_vobject(message, zone)
    print(f"{len(messages)} invitations agree in icalendar and vobject")


main()
