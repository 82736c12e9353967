"""Expands generated feeds with `icalendar` and `recurring-ical-events`, and compares the busy times with ours.

The argument is the output file of the example `busy_times` of kalends-feeds. If the results differ because the
expander is known to deviate from RFC 5545, or because the RFC is ambiguous and Kalends has chosen a meaning
(`docs/use/ical.md`), the expansion is repeated with `CORRECTIONS`. The busy times must then be equal to the second. No
other difference is allowed.
"""

import copy
import datetime
import json
import re
import sys
import zoneinfo
from collections import Counter, defaultdict
from zoneinfo import ZoneInfo

# Use the tables of the package `tzdata`, which is pinned, instead of the machine's.
zoneinfo.reset_tzpath(())

import recurring_ical_events
from dateutil.rrule import rrulestr
from icalendar import Calendar
from recurring_ical_events.adapters import component
from recurring_ical_events.series import rrule as series
from recurring_ical_events.util import to_recurrence_ids as by_two_clocks

UTC = datetime.timezone.utc
DAY = datetime.timedelta(days=1)
# Dates and floating times are not points in time for the expander, so it is asked for more than the window.
MARGIN = 4 * DAY


class Feed:
    """A generated feed and our reading of it."""

    def __init__(self, line):
        self.line = json.loads(line)
        self.calendar = Calendar.from_ical(self.line["feed"])
        errors = [error for component in self.calendar.walk() for error in component.errors]
        assert not errors, errors
        self.dates = ZoneInfo(self.line["zone"])
        # With this property, the expander converts UTC times to that zone. It also is the zone of floating times.
        name = self.calendar.pop("X-WR-TIMEZONE", None)
        self.times = ZoneInfo(str(name)) if name else self.dates
        self.forward = False
        self.window = (self.line["from"], self.line["to"])

    def groups(self):
        """The events grouped by UID."""
        groups = defaultdict(list)
        for number, (event, days) in enumerate(zip(self.calendar.walk("VEVENT"), self.days_of_durations(), strict=True)):
            event.add("X-NUMBER", str(number))
            event.days = days
            groups[str(event["UID"])].append(event)
        return groups

    def days_of_durations(self):
        """The days in each event's DURATION as written, because the package treats PT24H as P1D."""
        found = []
        for line in re.sub("\r?\n ", "", self.line["feed"]).splitlines():
            if line == "BEGIN:VEVENT":
                found.append(0)
            elif line == "BEGIN:VALARM":
                inside, found = found, [0]
            elif line == "END:VALARM":
                found = inside
            elif line.startswith("DURATION:"):
                weeks, days = re.match(r"DURATION:P(?:(\d+)W)?(?:(\d+)D)?", line).groups("0")
                found[-1] = 7 * int(weeks) + int(days)
        return found

    def aware(self, value):
        """A date or a time with its zone."""
        if not isinstance(value, datetime.datetime):
            return datetime.datetime(value.year, value.month, value.day, tzinfo=self.dates)
        return value.replace(tzinfo=self.times) if value.tzinfo is None else value

    def seconds(self, value):
        """A date or a time in seconds. With `self.forward`, a time in a gap has the offset before the gap."""
        value = self.aware(value)
        if self.forward and not isinstance(value.tzinfo, ZoneInfo):
            back = datetime.datetime.fromtimestamp(value.timestamp(), UTC).astimezone(value.tzinfo)
            if naive(back) != naive(value):
                return int((naive(value) - (value - DAY).utcoffset()).replace(tzinfo=UTC).timestamp())
        return int(value.timestamp())

    def merged(self, spans):
        """The spans within the window, sorted. Those that touch are merged."""
        first, last = self.window
        merged = []
        for start, end in sorted((max(start, first), min(end, last)) for start, end in spans):
            if end <= start:
                continue
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([start, end])
        return merged

    def expanded(self, events):
        """The occurrences of these events around the window, each with its source event."""
        calendar = Calendar()
        for event in events:
            calendar.add_component(event)
        window = [datetime.datetime.fromtimestamp(end, UTC) for end in self.window]
        found = recurring_ical_events.of(calendar).between(window[0] - MARGIN, window[1] + MARGIN)
        sources = {str(event["X-NUMBER"]): event for event in events}
        return [(occurrence, sources[str(occurrence["X-NUMBER"])]) for occurrence in found]


def blocks(event):
    return str(event.get("TRANSP", "")).upper() != "TRANSPARENT" and str(event.get("STATUS", "")).upper() != "CANCELLED"


def is_date(value):
    return not isinstance(value, datetime.datetime)


def rules(event):
    found = event.get("RRULE", [])
    return found if isinstance(found, list) else [found]


def listed(event, name):
    found = event.get(name, [])
    return [value for one in (found if isinstance(found, list) else [found]) for value in one.dts]


def master(events):
    return next((event for event in events if "RECURRENCE-ID" not in event), None)


def naive(value):
    return value.replace(tzinfo=None)


# Each correction takes the feed and copies of the events of one UID, and returns whether it applies to them. Most
# change the events. `busy` implements the others.


def cancelled_series(feed, events):
    """If a series is cancelled, its changed occurrences are cancelled too (RFC 5546 section 3.2.5)."""
    main = master(events)
    if main is None or str(main.get("STATUS", "")).upper() != "CANCELLED" or len(events) == 1:
        return False
    events[:] = [main]
    return True


def ends_before_it_starts(feed, events):
    """DTEND must be later than DTSTART (section 3.8.2.2). The expander swaps the two."""
    kept = [event for event in events if "DTEND" not in event or is_date(event["DTEND"].dt) or length(feed, event) >= 0]
    changed = len(kept) < len(events)
    events[:] = kept
    return changed


def until_of_another_type(feed, events):
    """UNTIL must have the type of DTSTART, and must be in UTC if DTSTART has a zone (section 3.3.10). Other values are
    read as intended: a date includes its whole day, and a time without a zone is in DTSTART's zone."""
    changed = False
    for event in events:
        start = event["DTSTART"].dt
        for rule in rules(event):
            until = rule.get("UNTIL", [None])[0]
            if until is None or is_date(start):
                continue
            meant = until
            if is_date(until):
                meant = datetime.datetime(until.year, until.month, until.day) + DAY - datetime.timedelta(seconds=1)
            zone = feed.aware(start).tzinfo
            if start.tzinfo is None and meant.tzinfo is not None:
                meant = naive(meant.astimezone(zone))
            elif start.tzinfo is not None and meant.tzinfo is None:
                meant = meant.replace(tzinfo=zone).astimezone(UTC)
            if meant != until:
                rule["UNTIL"] = [meant]
                changed = True
    return changed


def excluded_and_changed(feed, events):
    """An occurrence that EXDATE excludes takes place if it is also an event of its own in the feed."""
    ids = {feed.seconds(event["RECURRENCE-ID"].dt) for event in events if "RECURRENCE-ID" in event}
    main = master(events)
    if main is None:
        return False
    zone = feed.aware(main["DTSTART"].dt).tzinfo
    dates = {datetime.datetime.fromtimestamp(second, UTC).astimezone(zone).date() for second in ids}
    excluded = [value.dt for value in listed(main, "EXDATE")]
    kept = [value for value in excluded if feed.seconds(value) not in ids and not (is_date(value) and value in dates)]
    if len(kept) == len(excluded):
        return False
    main.pop("EXDATE")
    for value in kept:
        main.add("EXDATE", value)
    return True


def dates_among_times(feed, events):
    """A date in EXDATE has no meaning in RFC 5545 if DTSTART has a time (section 3.8.5.1). Kalends reads it as the
    occurrence at the series' time on that day. The expander reads it as the whole day, including dates from RDATE."""
    main = master(events)
    excluded = [value.dt for value in listed(main, "EXDATE")] if main is not None else []
    if main is None or is_date(main["DTSTART"].dt) or not any(is_date(value) for value in excluded):
        return False
    main.pop("EXDATE")
    start = main["DTSTART"].dt
    for value in excluded:
        main.add("EXDATE", start.replace(year=value.year, month=value.month, day=value.day) if is_date(value) else value)
    return True


def identifiers_in_two_clocks(feed, events):
    """An occurrence is identified by its point in time. The expander also compares UTC wall-clock times with local
    ones."""
    return any(name in event for event in events for name in ("RECURRENCE-ID", "EXDATE"))


def weeks_without_days(feed, events):
    """BYWEEKNO leaves the weekday open, which comes from DTSTART (section 3.3.10). dateutil takes all seven days."""
    changed = False
    for event in events:
        for rule in rules(event):
            if "BYWEEKNO" in rule and not {"BYDAY", "BYMONTHDAY", "BYYEARDAY"} & set(rule):
                rule["BYDAY"] = [["MO", "TU", "WE", "TH", "FR", "SA", "SU"][event["DTSTART"].dt.weekday()]]
                changed = True
    return changed


def numbered_and_plain_days(feed, events):
    """BYDAY is a union of days (section 3.3.10). dateutil intersects plain and numbered days."""
    changed = False
    for event in events:
        for rule in rules(event):
            days = rule.get("BYDAY", [])
            numbered = [day for day in days if len(str(day)) > 2]
            plain = [day for day in days if len(str(day)) == 2]
            if numbered and plain and not {"COUNT", "BYSETPOS"} & set(rule):
                other = copy.deepcopy(rule)
                rule["BYDAY"], other["BYDAY"] = numbered, plain
                event.add("RRULE", other)
                changed = True
    return changed


def start_counts(feed, events):
    """DTSTART counts towards COUNT even if the rule does not match it (section 3.8.5.3). The expander adds it."""
    main = master(events)
    changed = False
    for rule in rules(main) if main is not None else []:
        if "COUNT" not in rule:
            continue
        alone = {name: value for name, value in rule.items() if name not in ("COUNT", "UNTIL")}
        start = main["DTSTART"].dt
        start = datetime.datetime(start.year, start.month, start.day) if is_date(start) else naive(start)
        first = rrulestr(type(rule)(alone).to_ical().decode(), dtstart=start)[0]
        if first == start:
            continue
        rule["COUNT"] = [rule["COUNT"][0] - 1]
        changed = True
        if rule["COUNT"] == [0]:
            main.pop("RRULE")
    return changed


def exact_lengths(feed, events):
    """DTEND gives an occurrence the elapsed length of the first one (section 3.8.5.3). DURATION adds its days by the
    calendar and its hours in elapsed time (section 3.3.6). The expander adds both by the wall clock."""
    return True


def skipped_times(feed, events):
    """A time in a gap is read with the offset before the gap (section 3.3.5). For zones from a VTIMEZONE, dateutil
    takes the offset after the gap."""
    feed.forward = True
    return True


def length(feed, event):
    """The seconds from DTSTART to DTEND. If only the start is in a gap, the whole event is moved."""
    start, end = event["DTSTART"].dt, event["DTEND"].dt
    by_wall_clock = naive(end) - naive(start) if start.tzinfo is end.tzinfo else datetime.timedelta(0)
    elapsed = feed.seconds(end) - feed.seconds(start)
    return int(by_wall_clock.total_seconds()) if elapsed <= 0 < by_wall_clock.total_seconds() else elapsed


def exact_end(feed, occurrence, source):
    first = feed.seconds(occurrence["DTSTART"].dt)
    if is_date(occurrence["DTSTART"].dt):
        return feed.seconds(occurrence["DTEND"].dt)
    for period in listed(source, "RDATE"):
        if isinstance(period.dt, tuple) and feed.seconds(period.dt[0]) == first:
            last = period.dt[1]
            return first + int(last.total_seconds()) if isinstance(last, datetime.timedelta) else feed.seconds(last)
    if "DURATION" in source:
        days = datetime.timedelta(days=source.days)
        rest = source["DURATION"].dt - days
        # Days are those of the event's own clock, even for an RDATE in another zone.
        value, zone = feed.aware(occurrence["DTSTART"].dt), feed.aware(source["DTSTART"].dt).tzinfo
        value = value if value.tzinfo is zone else value.astimezone(zone)
        return feed.seconds(value + days) + int(rest.total_seconds())
    if "DTEND" in source:
        return first + length(feed, source)
    return first


CORRECTIONS = [
    cancelled_series,
    ends_before_it_starts,
    until_of_another_type,
    excluded_and_changed,
    dates_among_times,
    identifiers_in_two_clocks,
    weeks_without_days,
    numbered_and_plain_days,
    start_counts,
    skipped_times,
    exact_lengths,
]


def busy(feed, events, corrections):
    """The busy times of these events, the corrections that apply to them, and the number of occurrences."""
    events = copy.deepcopy(events)
    feed.forward = False
    applied = [one for one in corrections if one(feed, events)]

    def by_instants(value):
        return (feed.seconds(datetime.datetime(value.year, value.month, value.day) if is_date(value) else value),)

    ids = by_instants if identifiers_in_two_clocks in applied else by_two_clocks
    series.to_recurrence_ids = component.to_recurrence_ids = ids
    spans = []
    for occurrence, source in feed.expanded(events):
        if not blocks(occurrence):
            continue
        exact = exact_lengths in applied
        last = exact_end(feed, occurrence, source) if exact else feed.seconds(occurrence["DTEND"].dt)
        spans.append((feed.seconds(occurrence["DTSTART"].dt), last))
    return feed.merged(spans), applied, len(spans)


def explained(feed, events, ours):
    """The fewest corrections with which the expander agrees, or `None` if it does not."""
    found, needed, _ = busy(feed, events, CORRECTIONS)
    if found != ours:
        return None
    for one in list(needed):
        fewer = [other for other in needed if other is not one]
        if busy(feed, events, fewer)[0] == ours:
            needed = fewer
    return needed


def shown(spans):
    def text(second):
        return datetime.datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%MZ")

    return ", ".join(f"{text(start)}/{text(end)}" for start, end in spans[:3])


def report(feed, uid, events, ours):
    found, applied, _ = busy(feed, events, CORRECTIONS)
    names = ", ".join(one.__name__ for one in applied)
    print(f"{uid}, dates in {feed.dates.key}, floating times in {feed.times.key}, corrected by {names}")
    print("  only the expander:", shown([span for span in found if span not in ours]))
    print("  only ours:", shown([span for span in ours if span not in found]), feed.line["skipped"].get(uid, ""))
    for event in events:
        print("  " + event.to_ical().decode().replace("\r\n ", "").rstrip().replace("\r\n", "\n  "))


def main():
    counted, classes = Counter(), Counter()
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            feed = Feed(line)
            counted["feeds"] += 1
            whole = []
            for uid, events in feed.groups().items():
                ours = feed.line["events"].get(uid, [])
                whole += ours
                found, _, occurrences = busy(feed, events, [])
                counted["events"] += 1
                counted["occurrences"] += occurrences
                if found == ours:
                    continue
                needed = explained(feed, events, ours)
                counted["not explained" if needed is None else "explained"] += 1
                classes.update(one.__name__.replace("_", " ") for one in needed or [])
                if needed is None:
                    report(feed, uid, events, ours)
            if feed.merged(whole) != feed.line["busy"]:
                counted["not explained"] += 1
                print(f"feed {feed.line['number']}: its busy times are not the union of its events' busy times")
    print(
        f"icalendar with recurring-ical-events: {counted['feeds']} feeds of {counted['events']} events with "
        f"{counted['occurrences']} occurrences that block; {counted['explained']} events differ for known reasons, "
        f"{counted['not explained']} for unknown ones"
    )
    for name, count in classes.most_common():
        print(f"{count:6}  {name}")
    if counted["not explained"] or not counted["occurrences"]:
        sys.exit(1)


main()
