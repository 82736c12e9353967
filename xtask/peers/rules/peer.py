"""Expands recurrence rules with a Python library, which the first argument names. See `src/main.rs` for the lines."""

import datetime
import sys
import time

import icalendar
import recurring_ical_events
from dateutil.rrule import rrulestr

UTC = datetime.timezone.utc
WORTH_TIMING = 0.1


def at(seconds, zone=None):
    return datetime.datetime(1970, 1, 1, tzinfo=zone) + datetime.timedelta(seconds=seconds)


def seconds(moment):
    return int((moment - at(0, moment.tzinfo)).total_seconds())


def dateutil(rule, first, start, end):
    rule = rrulestr(rule, dtstart=at(first))
    last = end - 1
    return lambda: [seconds(one) for one in rule.between(at(start), at(last), inc=True)]


def icalendar_events(rule, first, start, end):
    text = "\r\n".join(
        [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:-//Kalends//peers//EN",
            "BEGIN:VEVENT",
            "UID:one@example.org",
            "DTSTAMP:19700101T000000Z",
            f"DTSTART:{at(first):%Y%m%dT%H%M%SZ}",
            f"DTEND:{at(first + 1):%Y%m%dT%H%M%SZ}",
            f"RRULE:{rule}",
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        ]
    )
    query = recurring_ical_events.of(icalendar.Calendar.from_ical(text))

    def expand():
        found = query.between(at(start, UTC), at(end, UTC))
        starts = sorted(seconds(event.start) for event in found)
        return [one for one in starts if start <= one < end]

    return expand


def timed(expand):
    count = len(expand())
    began, runs = time.perf_counter(), 0
    while time.perf_counter() - began < WORTH_TIMING:
        expand()
        runs += 1
    return f"{count}\t{(time.perf_counter() - began) / runs * 1e9:.0f}"


def main():
    library, answer = sys.argv[1:]
    prepare = {"dateutil": dateutil, "recurring-ical-events": icalendar_events}[library]
    print("ready", flush=True)
    for line in sys.stdin:
        rule, *numbers = line.rstrip("\n").split("\t")
        try:
            expand = prepare(rule, *map(int, numbers[:3]))
            text = timed(expand) if answer == "time" else ",".join(map(str, expand()))
        except Exception:
            text = "refused"
        print(text, flush=True)


main()
