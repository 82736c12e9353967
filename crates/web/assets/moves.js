// Lets events of a week or a day be moved and resized, and new ones be drawn, with a pointer or the keyboard. Without
// this file, forms do the same.
(() => {
  'use strict';
  const grid = document.getElementById('grid');
  if (!grid) return;
  // On a narrow screen, days are lists. The style sheet has the same width.
  const wide = matchMedia('(min-width: 48rem)');
  const [STEP, ROW, DAY] = [15 * 60_000, 30 * 60_000, 24 * 60 * 60_000];
  const LOST = 'The connection was lost. Reload the page to see whether the event has changed.';
  const CHANGED = 'The event has changed since this page was loaded, so it stays where it was.';
  // How long a finger rests until it drags, in milliseconds, and how far other pointers move, in pixels.
  const [REST, FAR] = [450, 6];
  const BY = { ArrowUp: -STEP, ArrowDown: STEP };
  const WAY = { ArrowLeft: -1, ArrowRight: 1 };

  let civil;
  try {
    // Swedish dates are those of forms, except for a space.
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' };
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: grid.dataset.zone, ...parts });
    civil = (at) => format.format(at).replace(' ', 'T');
  } catch {
    return; // The browser does not know the zone, so it cannot show a time in it.
  }
  const clock = (at) => civil(at).slice(11);
  const on = (name, act, options) => grid.addEventListener(name, act, options);
  const [said, refused, which] = ['said', 'refused', 'which'].map((id) => document.getElementById(id));
  const say = (text) => { said.textContent = text; };
  // The server says when a day begins and how many rows it has: not every day has 24 hours.
  const columns = [...grid.querySelectorAll('.hours[data-begin]')].map((list) => {
    const [begin, rows] = [Date.parse(list.dataset.begin), Number(list.dataset.rows)];
    const name = list.closest('.date').querySelector('h3 .name').textContent;
    return { list, name, begin, rows, end: begin + rows * ROW };
  });
  const columnOf = (at) => columns.find((column) => column.begin <= at && at < column.end);
  const words = (from, to) => `${columnOf(from)?.name ?? civil(from).slice(0, 10)}, ${clock(from)}–${clock(to)}`;
  const timesOf = (item) => [Date.parse(item.dataset.from), Date.parse(item.dataset.to)];

  let change = null; // An event that is moved or resized, or a time that is drawn.
  let press = null; // The pointer that is down on an event or an hour.
  let dragged = false; // Whether the last one has dragged something, so that the click that follows is none.

  // Before the grid sees the keys, and wherever the focus is: Escape cancels a drag too.
  document.addEventListener('keydown', (event) => {
    const { key } = event;
    const item = event.target.closest('#grid [data-id]');
    const kind = { m: 'move', r: 'resize' }[key?.toLowerCase()];
    if (!wide.matches || event.ctrlKey || event.altKey || event.metaKey) return;
    if (which.open) {
      // Who still holds the Enter that opened the question has not answered it.
      if (event.repeat && key === 'Enter') event.preventDefault();
      return;
    }
    if (change) {
      // Other keys do what they always do. Those that take the focus elsewhere, such as Tab, cancel.
      if (!(key in BY || key in WAY || key === 'Enter' || key === 'Escape')) return;
      if (key === 'Escape' && !change.sent) cancel();
      else if (!press && !change.sent) steer(key);
    } else if (item && kind) {
      begin(kind, item, ...timesOf(item));
      say(`${kind === 'move' ? 'Moving' : 'Changing the end'}: ${words(change.from, change.to)}`);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
  on('focusout', () => change && !press && !change.sent && cancel());

  // The time on the shown day before or after at which clocks show the same.
  function onDay(at, way) {
    const own = columnOf(at);
    if (!own) return at + way * DAY; // It begins before the shown days.
    const other = columns[columns.indexOf(own) + way];
    if (!other) return NaN;
    for (let found = other.begin + ((at - own.begin) % STEP); found < other.end; found += STEP) {
      if (clock(found) === clock(at)) return found;
    }
    return other.begin + at - own.begin; // The clocks skip that time.
  }

  function steer(key) {
    let { kind, from, to } = change;
    if (key === 'Enter') return drop();
    const moves = kind === 'move';
    if (!(key in BY) && !(moves && key in WAY)) return;
    const by = BY[key] ?? onDay(from, WAY[key]) - from;
    if (moves) from += by;
    to += by;
    if (!columns.some((column) => from < column.end && to > column.begin)) return say('No other day is shown.');
    if (to <= from) return say('An event ends after it begins.');
    draw(from, to);
    change.ghosts[0]?.scrollIntoView({ block: 'nearest' });
    say(words(from, to));
  }

  function begin(kind, item, from, to) {
    change = { kind, item, ghosts: [] };
    refused.hidden = true;
    item.classList.toggle('moved', kind !== 'create');
    grid.classList.add('changing');
    draw(from, to);
  }

  // Shows the time on each day that it touches. Places are classes of the style sheet.
  function draw(from, to) {
    for (const ghost of change.ghosts) ghost.remove();
    Object.assign(change, { from, to, ghosts: [] });
    for (const column of columns) {
      const start = Math.max(from, column.begin) - column.begin;
      const end = Math.min(to, column.end) - column.begin;
      if (start >= end) continue;
      const [first, after] = [Math.floor(start / ROW), Math.ceil(end / ROW)];
      const ghost = document.createElement('li');
      ghost.className = `ghost r${first + 1} s${after - first} p1-0`;
      ghost.classList.toggle('late', start - first * ROW >= STEP);
      ghost.classList.toggle('early', after * ROW - end >= STEP);
      ghost.ariaHidden = 'true';
      ghost.append(document.createElement('p'));
      ghost.firstChild.className = 'event';
      ghost.firstChild.textContent = `${clock(from)}–${clock(to)}`;
      column.list.append(ghost);
      change.ghosts.push(ghost);
    }
  }

  function end() {
    for (const ghost of change.ghosts) ghost.remove();
    change.item.classList.remove('moved');
    grid.classList.remove('changing');
    change = null;
    release();
  }

  function cancel() {
    end();
    say('Cancelled.');
  }

  async function drop() {
    const { kind, item, from, to } = change;
    if (`${[from, to]}` === `${timesOf(item)}`) return cancel();
    change.sent = true;
    let scope = 'this';
    if ('series' in item.dataset) {
      which.returnValue = '';
      which.showModal();
      await new Promise((closed) => which.addEventListener('close', closed, { once: true }));
      scope = which.returnValue;
    }
    if (!scope) return cancel();
    say('Saving…');
    const { id, version, series } = item.dataset;
    const signal = AbortSignal.timeout(15_000);
    const headers = { 'Content-Type': 'application/json', 'If-Match': `"${version}"` };
    // An occurrence that was changed on its own keeps its version when its series changes.
    if (scope !== 'this') headers['X-Series-Version'] = series;
    let answer;
    try {
      answer = await fetch(`/v1/events/${id}${scope === 'this' ? '' : `?scope=${scope}`}`, {
        method: 'PATCH',
        headers,
        // A new start moves the event, and a new end changes its length.
        body: JSON.stringify(kind === 'resize' ? { end_time: new Date(to) } : { start_time: new Date(from) }),
        signal,
      });
    } catch {
      return refuse(LOST);
    }
    // The server may have saved it.
    if (answer.status >= 500) return refuse(LOST);
    const known = await answer.json().catch(() => ({}));
    if (answer.ok) return again({ id: known.id, from, said: `Saved: ${words(from, to)}` });
    refuse({
      401: 'Your session has ended. Reload the page to sign in.',
      404: 'There is no such event any more, or you have switched to another organization.',
      412: CHANGED,
    }[answer.status] ?? `The event stays where it was: ${known.error?.message ?? answer.status}`);
  }

  function refuse(text) {
    const { item } = change;
    end();
    say('');
    item.querySelector('a').focus();
    refused.querySelector('p').textContent = text;
    refused.hidden = false;
  }

  // Shows the same days as the server knows them now. What an earlier form did is not said again.
  function again(focus) {
    sessionStorage.setItem('kalends-calendar', JSON.stringify(focus));
    const address = new URL(location.href);
    address.searchParams.delete('done');
    address.hash = '';
    location.replace(address);
  }

  function release() {
    clearTimeout(press?.timer);
    press = null;
  }

  // The place of the pointer among the hours, however far the page and the hours are scrolled.
  const heightOf = (event) => event.pageY + grid.scrollTop;
  const under = (x) => columns.find((column) => x < column.right) ?? columns.at(-1);
  const timeAt = ({ begin, top, unit, rows }, y) => begin + Math.min(Math.max((y - top) / unit, 0), rows) * ROW;

  function lift() {
    // Measured once, so that dragging reads no layout but how far the hours are scrolled.
    const longest = Math.max(...columns.map((column) => column.rows));
    for (const column of columns) {
      const { right, top, height } = column.list.getBoundingClientRect();
      Object.assign(column, { right: right + scrollX, top: top + scrollY + grid.scrollTop, unit: height / longest });
    }
    press.upper = grid.querySelector('.head').getBoundingClientRect().bottom + scrollY;
    press.lower = grid.getBoundingClientRect().bottom + scrollY;
    const { item, edge } = press;
    press.column = under(press.x);
    press.at = timeAt(press.column, press.y);
    dragged = true;
    grid.setPointerCapture(press.pointer);
    const from = Math.floor(press.at / STEP) * STEP;
    const isSlot = item.matches('.slot');
    press.times = isSlot ? [from, Math.min(from + ROW, press.column.end)] : timesOf(item);
    begin(isSlot ? 'create' : edge ? 'resize' : 'move', item, ...press.times);
  }

  function drag(x, y) {
    const { kind } = change;
    let [from, to] = press.times;
    const column = kind === 'create' ? press.column : under(x);
    const at = timeAt(column, y);
    // A time that is no multiple of a quarter keeps its minutes.
    const by = Math.round((at - press.at) / STEP) * STEP;
    if (kind === 'create') {
      from = Math.floor(Math.min(press.at, at) / STEP) * STEP;
      to = Math.max(Math.ceil(Math.max(press.at, at) / STEP) * STEP, from + STEP);
    } else if (kind === 'resize') {
      to = Math.max(to + by, from + STEP);
    } else {
      let moved = from + by;
      // What begins on a day keeps beginning on the day under the pointer.
      if (from >= press.column.begin) moved = Math.min(Math.max(moved, column.begin), column.end - STEP);
      to += moved - from;
      from = moved;
    }
    if (from !== change.from || to !== change.to) draw(from, to);
  }

  on('pointerdown', (event) => {
    dragged = false;
    const item = event.target.closest('.hours > [data-id], .hours > .slot');
    if (!wide.matches || !item || event.button || !event.isPrimary || change) return;
    // The lower edge of an event is drawn over its link.
    const edge = event.target === item && 'ends' in item.dataset;
    press = { pointer: event.pointerId, item, edge, x: event.pageX, y: heightOf(event), seen: event.clientY };
    if (event.pointerType === 'touch') press.timer = setTimeout(lift, REST);
  });
  on('pointermove', (event) => {
    if (event.pointerId !== press?.pointer || change?.sent) return;
    // The button was let go where the page did not see it.
    if (!event.buttons) return change ? cancel() : release();
    if (!change) {
      if (Math.hypot(event.pageX - press.x, heightOf(event) - press.y) < FAR) return;
      if (press.timer) return release(); // A finger that moves at once scrolls.
      lift();
    }
    drag(event.pageX, heightOf(event));
    // Near an edge, the hours scroll the way that the pointer goes.
    const way = Math.sign(event.clientY - press.seen);
    press.seen = event.clientY;
    if (way < 0 && event.pageY < press.upper + 40 || way > 0 && event.pageY > press.lower - 40) grid.scrollBy(0, 20 * way);
    if (way < 0 && event.clientY < 40 || way > 0 && event.clientY > innerHeight - 40) scrollBy(0, 20 * way);
  });
  on('pointerup', (event) => {
    if (event.pointerId !== press?.pointer || change?.sent) return;
    const { item, edge } = press;
    if (change?.kind === 'create') {
      const address = new URL(item.querySelector('a').href);
      // Clocks show an hour twice in autumn, so the form gets the times themselves too.
      for (const [name, at] of [['start', change.from], ['end', change.to]]) {
        address.searchParams.set(name, civil(at));
        address.searchParams.set(`${name}_at`, new Date(at).toISOString());
      }
      end();
      location.assign(address);
    } else if (change) {
      drop();
    } else {
      release();
      if (edge) item.querySelector('a').click();
    }
  });
  on('pointercancel', () => (change && !change.sent ? cancel() : release()));
  on('click', (event) => {
    // The keyboard's clicks have no detail.
    if (!dragged || !event.detail) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
  // Browsers drag links, and a finger that rests opens a menu, or scrolls.
  on('dragstart', (event) => press && event.preventDefault());
  on('contextmenu', (event) => press?.timer && event.preventDefault());
  on('touchmove', (event) => change && press && event.preventDefault(), { passive: false });

  refused.querySelector('button').addEventListener('click', () => again({}));
  which.addEventListener('click', (event) => event.target.matches('button') && which.close(event.target.value));

  function live() {
    if (change && !change.sent) cancel();
    grid.classList.toggle('live', wide.matches);
  }
  wide.addEventListener('change', live);
  live();
})();
