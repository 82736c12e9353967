// Reads invitations with ical.js, and compares what they say with what was written.
//
// The argument is the output file of the example `invitations` of kalends-feeds.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const ICAL = require('ical.js');

const messages = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
for (const message of messages) {
  const calendar = new ICAL.Component(ICAL.parse(message.text));
  const what = message.name;
  assert.equal(calendar.getFirstPropertyValue('method'), message.method, what);
  for (const zone of calendar.getAllSubcomponents('vtimezone')) {
    ICAL.TimezoneService.register(zone);
  }
  const events = calendar.getAllSubcomponents('vevent');
  for (const event of events) {
    assert.equal(event.getFirstPropertyValue('uid'), message.uid, what);
    assert.equal(event.getFirstPropertyValue('sequence'), message.sequence, what);
    assert.equal(event.getFirstPropertyValue('status'), message.status, what);
    assert.equal(event.getAllProperties('attendee').length, 1, what);
    assert.equal(event.getFirstPropertyValue('attendee'), message.attendee, what);
    assert.equal(event.getFirstPropertyValue('organizer'), 'mailto:no-reply@example.com', what);
  }
  const first = events[0];
  assert.equal(first.getFirstPropertyValue('summary'), message.summary, what);
  assert.equal(first.getFirstProperty('attendee').getParameter('partstat'), message.partstat, what);
  const id = first.getFirstPropertyValue('recurrence-id');
  assert.equal(id === null ? null : id.toUnixTime(), message.recurrence_id, what);
  const start = first.getFirstPropertyValue('dtstart');
  if (start.isDate) {
    continue;
  }
  const event = new ICAL.Event(first, { exceptions: events.slice(1) });
  if (event.isRecurring()) {
    const found = [];
    const iterator = event.iterator();
    for (let next = iterator.next(); next; next = iterator.next()) {
      found.push(event.getOccurrenceDetails(next).startDate.toUnixTime());
    }
    found.sort((a, b) => a - b);
    assert.deepEqual(found, message.starts, what);
  } else {
    assert.deepEqual([start.toUnixTime()], message.starts, what);
  }
}
console.log(`${messages.length} invitations agree in ical.js`);
