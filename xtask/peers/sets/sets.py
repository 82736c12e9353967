"""Answers questions about busy times with `portion`. See `src/main.rs` for the lines.

The argument is the file of the busy times.
"""

import sys
import time
from collections import defaultdict

import portion

WORTH_TIMING = 0.1
DAY = 24 * 60 * 60 * 1_000_000


def common_free(sets, start, end):
    window = portion.closedopen(start, end)
    return window - portion.Interval(*[one & window for one in sets])


def timed(name, run):
    began, runs = time.perf_counter(), 0
    while time.perf_counter() - began < WORTH_TIMING:
        answer = run()
        runs += 1
    nanos = (time.perf_counter() - began) / runs * 1e9
    found = [(span.lower, span.upper) for span in answer]
    print(f"{name}\t{len(found)}\t{sum(end - start for start, end in found)}\t{nanos:.0f}", flush=True)


def main():
    calendars = defaultdict(lambda: defaultdict(list))
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            group, calendar, start, end = line.rstrip("\n").split("\t")
            calendars[group][calendar].append(portion.closedopen(int(start), int(end)))
    first = next(iter(calendars["full"].values()))
    full, sparse = ([portion.Interval(*events) for events in calendars[group].values()] for group in ("full", "sparse"))
    timed("merge the 1,000 events of a calendar", lambda: portion.Interval(*first))
    timed("union of 100 calendars", lambda: portion.Interval(*sparse))
    for case, sets, start, end in (
        ("free time of 100 full calendars, 30 days", full, 0, 30),
        ("free time of 100 calendars, 3,000 days", sparse, 0, 3_000),
        ("free time of 100 calendars, a week of these", sparse, 1_000, 1_007),
    ):
        timed(case, lambda: common_free(sets, start * DAY, end * DAY))


main()
