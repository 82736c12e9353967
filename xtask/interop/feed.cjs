// Reads a feed with `ical.js` and `node-ical`, and compares the times of all events.
//
// The argument is the output file of the example `feed` of kalends-feeds.
'use strict';

// Dates are midnights in the calendar's zone. The libraries read the zone from here.
process.env.TZ = 'Europe/Berlin';
const { readFileSync } = require('node:fs');
const ICAL = require('ical.js');
const nodeIcal = require('node-ical');

const shown = JSON.parse(readFileSync(process.argv[2], 'utf8'));

function add(found, title, start, end) {
  const times = [Math.round(start / 1000), Math.round(end / 1000)];
  if (times[1] > shown.from && times[0] < shown.to) (found[title] ??= []).push(times);
}

function byIcalJs() {
  const calendar = new ICAL.Component(ICAL.parse(shown.feed));
  for (const zone of calendar.getAllSubcomponents('vtimezone')) ICAL.TimezoneService.register(zone);
  const events = calendar.getAllSubcomponents('vevent').map((event) => new ICAL.Event(event));
  const series = {};
  for (const event of events) (series[event.uid] ??= []).push(event);
  const found = {};
  for (const [, all] of Object.entries(series)) {
    const main = all.find((event) => !event.isRecurrenceException());
    all.filter((event) => event !== main).forEach((event) => main.relateException(event));
    if (!main.isRecurring()) {
      add(found, main.summary, main.startDate.toJSDate().getTime(), main.endDate.toJSDate().getTime());
      continue;
    }
    const occurrences = main.iterator();
    for (let next = occurrences.next(); next; next = occurrences.next()) {
      if (next.toJSDate().getTime() / 1000 > shown.to + 86400) break;
      const { item, startDate, endDate } = main.getOccurrenceDetails(next);
      add(found, item.summary, startDate.toJSDate().getTime(), endDate.toJSDate().getTime());
    }
  }
  return found;
}

function byNodeIcal() {
  const found = {};
  const [from, to] = [shown.from, shown.to].map((second) => new Date(second * 1000));
  for (const event of Object.values(nodeIcal.sync.parseICS(shown.feed))) {
    if (event.type !== 'VEVENT') continue;
    for (const instance of nodeIcal.expandRecurringEvent(event, { from, to, expandOngoing: true })) {
      const title = instance.summary?.val ?? instance.summary;
      add(found, title, instance.start.getTime(), instance.end.getTime());
    }
  }
  return found;
}

function compare(name, found) {
  let count = 0;
  for (const [title, expected] of Object.entries(shown.events)) {
    const inside = (found[title] ?? []).sort(([a], [b]) => a - b);
    delete found[title];
    count += expected.length;
    const key = (times) => times.join('-');
    const [have, want] = [new Set(inside.map(key)), new Set(expected.map(key))];
    const differing = [...have].filter((one) => !want.has(one)).concat([...want].filter((one) => !have.has(one)));
    if (inside.length !== expected.length || differing.length) {
      console.error(`${name} reads "${title}" differently: ${inside.length} of ${expected.length}, e.g. ${differing.slice(0, 4)}`);
      process.exitCode = 1;
    }
  }
  const more = Object.keys(found);
  if (more.length) {
    console.error(`${name} reads additional events: ${more}`);
    process.exitCode = 1;
  }
  if (!process.exitCode) console.log(`${name}: ${count} occurrences match`);
}

compare('ical.js', byIcalJs());
compare('node-ical', byNodeIcal());
