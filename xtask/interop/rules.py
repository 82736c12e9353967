"""Expands random rules with `python-dateutil`, and compares the starts with ours.

The argument is the output file of the example `random_rules` of kalends-recurrence. dateutil deviates from RFC 5545 in
known ways (`docs/use/recurrence.md`). If the starts differ, the question is changed as `DEVIATIONS` says, and the
starts must then be equal. No other difference is allowed.
"""

import datetime
import itertools
import sys
from collections import Counter

import dateutil.rrule
from dateutil.rrule import rrulestr

WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
FREQUENCIES = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"]
EPOCH = datetime.datetime(1970, 1, 1)
SECOND = datetime.timedelta(seconds=1)
DAY = 86400
# The lengths of periods that do not depend on the calendar.
LENGTHS = {"WEEKLY": 7 * DAY, "DAILY": DAY, "HOURLY": 3600, "MINUTELY": 60, "SECONDLY": 1}
# More periods than this are not gone through.
PERIODS_MAX = 20_000

DEVIATIONS = {
    "start": "the first start counts although the rule does not generate it; dateutil leaves it out",
    "sixty": "the second 60 is the second 59; dateutil refuses it",
    "either": "plain and numbered weekdays together: days that are either; dateutil takes days that are both",
    "weekday": "BYWEEKNO without a day: the weekday of the first start; dateutil takes all seven days",
    "weeks": "weeks at the ends of a year: dateutil misses days, or takes days of another year",
    "first period": "BYSETPOS counts from the beginning of the first period; dateutil from the first start",
    "empty": "a rule without a time of day has no start except the first; dateutil refuses it",
}


class PastTheWindow(Exception):
    """dateutil has passed the end of the window."""


class Bounded(dateutil.rrule._iterinfo):
    """Stops dateutil after the last day of the window, because it does not stop if it finds nothing."""

    last = (9999, 12, 31)

    def check(self, *date):
        if date > self.last[: len(date)]:
            raise PastTheWindow

    def ydayset(self, year, month, day):
        self.check(year)
        return super().ydayset(year, month, day)

    def mdayset(self, year, month, day):
        self.check(year, month)
        return super().mdayset(year, month, day)

    def wdayset(self, year, month, day):
        self.check(year, month, day)
        return super().wdayset(year, month, day)

    def ddayset(self, year, month, day):
        self.check(year, month, day)
        return super().ddayset(year, month, day)


dateutil.rrule._iterinfo = Bounded


def seconds(time):
    return (time - EPOCH) // SECOND


def shown(number):
    return EPOCH + number * SECOND


def read(text):
    rule = dict(part.split("=") for part in text.split(";"))
    return {name: value.split(",") if name.startswith("BY") else value for name, value in rule.items()}


def written(rule):
    return ";".join(f"{name}={','.join(map(str, v)) if isinstance(v, list) else v}" for name, v in rule.items())


def names_days(rule):
    return any(name in rule for name in ("BYYEARDAY", "BYMONTHDAY", "BYDAY"))


def completed(rule, first):
    """The rule with the parts that come from the first start."""
    rule, time, level = dict(rule), shown(first), FREQUENCIES.index(rule["FREQ"])
    if not names_days(rule) and "BYWEEKNO" not in rule:
        if rule["FREQ"] == "YEARLY":
            rule["BYMONTHDAY"] = [time.day]
            rule.setdefault("BYMONTH", [time.month])
        if rule["FREQ"] == "MONTHLY":
            rule["BYMONTHDAY"] = [time.day]
        if rule["FREQ"] == "WEEKLY":
            rule["BYDAY"] = [WEEKDAYS[time.weekday()]]
    for name, above, value in (("BYHOUR", 4, time.hour), ("BYMINUTE", 5, time.minute), ("BYSECOND", 6, time.second)):
        if level < above:
            rule.setdefault(name, [value])
    return rule


def period_start(rule, number):
    """The first second of the rule's period that contains a time."""
    time, day = shown(number), number // DAY * DAY
    match rule["FREQ"]:
        case "YEARLY":
            return seconds(datetime.datetime(time.year, 1, 1))
        case "MONTHLY":
            return seconds(datetime.datetime(time.year, time.month, 1))
        case "WEEKLY":
            return day - (time.weekday() - WEEKDAYS.index(rule.get("WKST", "MO"))) % 7 * DAY
        case frequency:
            return number // LENGTHS[frequency] * LENGTHS[frequency]


def week(day, start):
    """The number of the week of a day, and the number of weeks of its year. Week 1 has 4 January."""

    def begin(date):
        return date.toordinal() - (date.weekday() - start) % 7

    year = day.year
    if begin(day) >= begin(datetime.date(year + 1, 1, 4)):
        year += 1
    elif begin(day) < begin(datetime.date(year, 1, 4)):
        year -= 1
    one, after = begin(datetime.date(year, 1, 4)), begin(datetime.date(year + 1, 1, 4))
    return (begin(day) - one) // 7 + 1, (after - one) // 7


def expand(rule, first, start, end):
    """The starts in a window, and the error that ended them, if any."""
    found = []
    Bounded.last = shown(end - 1).timetuple()[:3]
    try:
        for time in rrulestr(written(rule), dtstart=shown(first)):
            number = seconds(time)
            if number >= end:
                break
            if number >= start:
                found.append(number)
    except PastTheWindow:
        pass
    except (ValueError, IndexError, TypeError) as error:
        return found, error
    return found, None


def expand_changed(rule, first, start, end, deviations):
    """The starts in a window if the question is changed for some deviations."""
    rule = dict(rule)
    if "sixty" in deviations:
        rule["BYSECOND"] = sorted({min(int(second), 59) for second in rule["BYSECOND"]})
    if "weekday" in deviations:
        rule["BYDAY"] = [WEEKDAYS[shown(first).weekday()]]
    if "either" in deviations:
        most = 5 if rule["FREQ"] == "MONTHLY" or "BYMONTH" in rule else 53
        days = [day for day in rule["BYDAY"] if len(day) > 2]
        days += [f"{n}{day}" for day in rule["BYDAY"] if len(day) == 2 for n in range(1, most + 1)]
        rule["BYDAY"] = days
    if "weeks" in deviations:
        return expand_weeks(rule, first, start, end)
    start = max(start, first)
    begin = first
    if "first period" in deviations:
        rule = completed(rule, first)
        begin = period_start(rule, first)
    if rule["FREQ"] in LENGTHS:
        step = LENGTHS[rule["FREQ"]] * int(rule.get("INTERVAL", 1))
        if (start - first) // step > PERIODS_MAX:
            # Begin in a later period, at its beginning, because the first start's place in it may be skipped.
            rule = completed(rule, first)
            begin = period_start(rule, first)
            begin += (start - begin) // step * step
    return expand(rule, begin, start, end)


def expand_weeks(rule, first, start, end):
    """Expands without BYWEEKNO and BYSETPOS, and applies both here."""
    rule = dict(rule)
    weeks = {int(number) for number in rule.pop("BYWEEKNO")}
    positions = [int(number) for number in rule.pop("BYSETPOS", [])]
    week_start = WEEKDAYS.index(rule.get("WKST", "MO"))
    if not names_days(rule):
        rule["BYDAY"] = list(WEEKDAYS)
    rule = completed(rule, first)
    step = int(rule.get("INTERVAL", 1))
    # Whole years, so that positions count all of the first one.
    year = shown(first).year
    year += max(0, shown(max(start, first)).year - year) // step * step
    until = datetime.datetime(shown(end - 1).year + 1, 1, 1)
    begin = seconds(datetime.datetime(year, 1, 1))
    found, error = expand(rule, begin, begin, seconds(until))
    kept = []
    for _, group in itertools.groupby(found, lambda time: shown(time).year):
        numbers = ((time, week(shown(time).date(), week_start)) for time in group)
        some = [time for time, (number, count) in numbers if number in weeks or number - count - 1 in weeks]
        if positions:
            some = sorted({some[p - 1 if p > 0 else p] for p in positions if abs(p) <= len(some)})
        kept += [time for time in some if max(first, start) <= time < end]
    return kept, error


def possible(rule):
    """The deviations that can change the starts of a rule."""
    days = rule.get("BYDAY", [])
    if "60" in rule.get("BYSECOND", []):
        yield "sixty"
    if len({len(day) > 2 for day in days}) == 2:
        yield "either"
    if "BYWEEKNO" in rule:
        if not names_days(rule):
            yield "weekday"
        yield "weeks"
    if "BYSETPOS" in rule:
        yield "first period"


def agreement(rule, first, start, end, ours, deviations):
    """The deviations with which the starts are equal; None if they are not."""
    found, error = expand_changed(rule, first, start, end, deviations)
    reasons = list(deviations)
    if error is not None:
        # dateutil's message for times that no period has.
        if "empty" not in str(error) or found:
            return None
        reasons.append("empty")
    if ours == found:
        return reasons
    if ours == sorted({*found, first}):
        return [*reasons, "start"]
    return None


def explained(rule, first, start, end, ours):
    """The fewest deviations that explain a difference; None if none do."""
    candidates = list(possible(rule))
    # If the question is changed for all of them, the starts must be equal too.
    if agreement(rule, first, start, end, ours, candidates) is None:
        return None
    for size in range(len(candidates) + 1):
        for some in itertools.combinations(candidates, size):
            reasons = agreement(rule, first, start, end, ours, some)
            if reasons is not None:
                return reasons
    return None


def report(text, first, start, end, ours):
    found, error = expand(read(text), first, start, end)
    print(f"{text} from {shown(first)}, in the {end - start} s from {shown(start)} on")
    print("  only ours:", *[shown(time).isoformat() for time in sorted(set(ours) - set(found))[:6]])
    print("  only dateutil's:", *[shown(time).isoformat() for time in sorted(set(found) - set(ours))[:6]], error or "")


def main():
    reasons, rules, starts, unexplained = Counter(), 0, 0, 0
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            text, *numbers, ours = line.rstrip("\n").split("\t")
            first, start, end = map(int, numbers)
            ours = [int(number) for number in ours.split(",") if number]
            rules += 1
            starts += len(ours)
            why = explained(read(text), first, start, end, ours)
            if why is None:
                unexplained += 1
                report(text, first, start, end, ours)
            else:
                reasons.update(why)
    assert rules > 0 and starts > rules, "the rules have no starts to compare"
    print(f"{rules} rules with {starts} starts: {unexplained} differ without an explanation")
    for reason, number in reasons.most_common():
        print(f"{number:6}  {reason}: {DEVIATIONS[reason]}")
    if unexplained:
        sys.exit(1)


main()
