"""Reads a feed with `icalendar` and `vobject`, and compares the times of all events.

The argument is the output file of the example `feed` of kalends-feeds.
"""

import datetime
import json
import sys
import zoneinfo

import icalendar
import recurring_ical_events
import vobject

# Use the tables of the package `tzdata`, pinned to the release that Kalends compiles in, instead of the machine's:
# zones such as Casablanca, whose clocks change by decree, differ between releases.
zoneinfo.reset_tzpath(())


def seconds(value, zone):
    """A date or a time as seconds since 1970. Dates are midnights in the calendar's zone."""
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day, tzinfo=zone)
    return int(value.timestamp())


def by_icalendar(shown):
    calendar = icalendar.Calendar.from_ical(shown["feed"])
    errors = [error for component in calendar.walk() for error in component.errors]
    assert not errors, errors
    zone = zoneinfo.ZoneInfo(shown["zone"])
    moments = [datetime.datetime.fromtimestamp(shown[end], datetime.timezone.utc) for end in ("from", "to")]
    found = {}
    for event in recurring_ical_events.of(calendar).between(*moments):
        times = [seconds(event.start, zone), seconds(event.end, zone)]
        found.setdefault(str(event["SUMMARY"]), []).append(times)
    return found


def by_vobject(shown):
    calendar = vobject.readOne(shown["feed"])
    zone = zoneinfo.ZoneInfo(shown["zone"])
    found, changed = {}, set()
    for event in calendar.vevent_list:
        if "recurrence-id" in event.contents:
            changed.add((event.uid.value, seconds(event.recurrence_id.value, zone)))
    for event in calendar.vevent_list:
        start = event.dtstart.value
        length = event.duration.value if "duration" in event.contents else event.dtend.value - start
        alone = "recurrence-id" in event.contents or "rrule" not in event.contents
        starts = [start] if alone else occurrences(event, shown["to"])
        for occurrence in starts:
            # A naive value is a date.
            aware = getattr(occurrence, "tzinfo", None) is not None
            if not aware:
                occurrence = datetime.date(occurrence.year, occurrence.month, occurrence.day)
            first = seconds(occurrence, zone)
            if not alone and (event.uid.value, first) in changed:
                continue
            last = first + int(length.total_seconds()) if aware else seconds(occurrence + length, zone)
            found.setdefault(event.summary.value, []).append([first, last])
    return found


def occurrences(event, until):
    for occurrence in event.rruleset:
        aware = occurrence if occurrence.tzinfo else occurrence.replace(tzinfo=datetime.timezone.utc)
        if aware.timestamp() > until + 86400:
            return
        yield occurrence


def compare(name, found, shown):
    for title, expected in shown["events"].items():
        inside = sorted(times for times in found.pop(title, []) if times[1] > shown["from"] and times[0] < shown["to"])
        differing = [times for times in inside if times not in expected] + [
            times for times in expected if times not in inside
        ]
        if len(inside) != len(expected) or differing:
            sys.exit(f"{name} reads {title!r} differently: {len(inside)} of {len(expected)}, e.g. {differing[:4]}")
    if found:
        sys.exit(f"{name} reads additional events: {sorted(found)}")
    print(f"{name}: {sum(map(len, shown['events'].values()))} occurrences match")


with open(sys.argv[1], encoding="utf-8") as file:
    shown = json.load(file)
compare("icalendar with recurring-ical-events", by_icalendar(shown), shown)
compare("vobject with dateutil", by_vobject(shown), shown)
