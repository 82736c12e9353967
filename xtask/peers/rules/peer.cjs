// Expands recurrence rules with ical.js. See `src/main.rs` for the lines. The argument is `starts` or `time`.
'use strict';

const { createInterface } = require('node:readline');

const WORTH_TIMING = 100;
const utc = (ICAL, seconds) => ICAL.Time.fromData({ year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: seconds }, ICAL.Timezone.utcTimezone);

function prepare(ICAL, [rule, first, from, to]) {
  const recur = ICAL.Recur.fromString(rule);
  const start = utc(ICAL, Number(first));
  const [least, most] = [Number(from), Number(to)];
  return () => {
    const starts = [];
    const iterator = recur.iterator(start);
    for (let next = iterator.next(); next; next = iterator.next()) {
      const seconds = next.toUnixTime();
      if (seconds >= most) break;
      if (seconds >= least) starts.push(seconds);
    }
    return starts;
  };
}

function timed(expand) {
  const count = expand().length;
  const began = process.hrtime.bigint();
  let runs = 0;
  let elapsed = 0;
  while (elapsed < WORTH_TIMING * 1e6) {
    expand();
    runs += 1;
    elapsed = Number(process.hrtime.bigint() - began);
  }
  return `${count}\t${Math.round(elapsed / runs)}`;
}

async function main() {
  const { default: ICAL } = await import(require.resolve('ical.js'));
  process.stdout.write('ready\n');
  for await (const line of createInterface({ input: process.stdin })) {
    let text = 'refused';
    try {
      const expand = prepare(ICAL, line.split('\t'));
      text = process.argv[2] === 'time' ? timed(expand) : expand().join(',');
    } catch {
      // The answer says it.
    }
    process.stdout.write(`${text}\n`);
  }
}

main();
