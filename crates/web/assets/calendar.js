// Makes the hours and events of a week or a day a grid for the keyboard. Without this file, they are lists of links.
(() => {
  'use strict';
  const grid = document.getElementById('grid');
  if (!grid) return;
  // On a narrow screen, days are lists, which need no grid. The style sheet has the same width.
  const wide = matchMedia('(min-width: 48rem)');
  const ITEMS = '.slot a, .event';
  const BY = { ArrowUp: -1, ArrowDown: 1 };
  const WAY = { ArrowLeft: -1, ArrowRight: 1 };
  const all = (css, within = grid) => [...within.querySelectorAll(css)];
  const days = all('.date');

  // The hours and events of a day as they follow each other. An hour comes before the events that begin in it.
  const rowOf = (item) => Number(/(?:^| )r(\d+)/.exec(item.closest('li').className)?.[1] ?? 0);
  const itemsOf = (day) => all(ITEMS, day).sort((one, other) => rowOf(one) - rowOf(other));

  function nearest(day, row) {
    const items = itemsOf(day);
    const hours = items.filter((item) => !item.matches('.event'));
    const among = hours.length ? hours : items;
    return among.findLast((item) => rowOf(item) <= row) ?? among[0];
  }

  function next(item, key) {
    const day = item.closest('.date');
    const items = itemsOf(day);
    if (key === 'Home' || key === 'End') return items.at(key === 'Home' ? 0 : -1);
    if (key in BY) return items[items.indexOf(item) + BY[key]];
    // Without hours, a day may have nothing to go to.
    for (let at = days.indexOf(day) + WAY[key]; days[at]; at += WAY[key]) {
      const found = nearest(days[at], rowOf(item));
      if (found) return found;
    }
  }

  grid.addEventListener('keydown', (event) => {
    const { key } = event;
    const item = event.target.closest(ITEMS);
    if (!wide.matches || !item || event.ctrlKey || event.altKey || event.metaKey) return;
    const link = document.querySelector(`.views [rel="${{ PageUp: 'prev', PageDown: 'next' }[key]}"]`);
    if (key in BY || key in WAY || key === 'Home' || key === 'End') {
      next(item, key)?.focus();
    } else if (link) {
      const place = { day: days.indexOf(item.closest('.date')), row: rowOf(item) };
      sessionStorage.setItem('kalends-calendar', JSON.stringify(place));
      location.assign(link.href);
    } else if (key === 'Escape') {
      const after = document.getElementById('legend');
      after.tabIndex = -1;
      after.focus();
    } else return;
    event.preventDefault();
  });

  // A row of the grid is a day, in the order of the page, so that screen readers name the day.
  // Headings and list items may not be cells themselves, so what is in them is.
  const roles = { presentation: '.columns, .head, ol, .rows, h3, li', rowheader: 'h3 > .cell', gridcell: 'li > .cell, .note, .more, .add' };
  for (const part of all('h3, li')) {
    const cell = document.createElement('span');
    cell.className = 'cell';
    cell.append(...part.childNodes);
    part.append(cell);
  }

  // The heads of the days cover the top of the scroll box, and what is scrolled into view is below them. How far they
  // reach is a class of the style sheet, in these steps of pixels.
  const [COVER, COVERS_MAX] = [16, 32];
  const head = grid.querySelector('.head');
  grid.classList.add('covering');
  let covered;
  function cover() {
    const covers = `u${Math.min(Math.ceil(head.offsetHeight / COVER), COVERS_MAX)}`;
    if (covers === covered) return;
    if (covered) grid.classList.remove(covered);
    grid.classList.add(covered = covers);
  }
  new ResizeObserver(cover).observe(head);

  // The box opens with the working day. The server says at which hour.
  function openBox() {
    cover();
    const hour = grid.querySelector('.opens');
    if (hour) grid.scrollTop += hour.getBoundingClientRect().top - head.getBoundingClientRect().bottom;
  }

  // Without hours to go to, the keyboard scrolls the box itself. On a narrow screen, it does not scroll.
  const isStop = grid.hasAttribute('tabindex');

  function arrange() {
    const set = (part, name, value) => (wide.matches ? part.setAttribute(name, value) : part.removeAttribute(name));
    for (const [role, css] of Object.entries(roles)) all(css).forEach((part) => set(part, 'role', role));
    for (const day of days) day.setAttribute('role', wide.matches ? 'row' : 'group');
    grid.setAttribute('role', wide.matches ? 'grid' : 'group');
    set(grid, 'aria-describedby', 'how');
    if (isStop) set(grid, 'tabindex', 0);
    document.getElementById('keys').hidden = !wide.matches;
    if (wide.matches) openBox();
  }
  wide.addEventListener('change', arrange);
  arrange();

  // Tab reaches one hour, and the arrows the others. It reaches every event, except for those without a page.
  for (const item of all('.slot a, p.event')) item.tabIndex = -1;
  const choose = (hour) => {
    for (const before of all('.slot [tabindex="0"]')) before.tabIndex = -1;
    hour.tabIndex = 0;
  };
  const today = grid.querySelector('.now')?.closest('.date') ?? days[0];
  const morning = today.querySelector('.slot.r19 a') ?? grid.querySelector('.slot a');
  if (morning) choose(morning);
  grid.addEventListener('focusin', (event) => {
    if (event.target.matches('.slot a')) choose(event.target);
  });

  // Where the focus was, or what has moved, before the page was loaded.
  const kept = JSON.parse(sessionStorage.getItem('kalends-calendar'));
  sessionStorage.removeItem('kalends-calendar');
  if (kept) {
    const events = all('[data-id]');
    // A change of later occurrences gives them other identifiers.
    const moved = events.find(({ dataset }) => dataset.id === kept.id)
      ?? events.find(({ dataset }) => Date.parse(dataset.from) === kept.from);
    (moved?.querySelector('a') ?? (days[kept.day] && nearest(days[kept.day], kept.row)))?.focus();
    if (kept.said) document.getElementById('said').textContent = kept.said;
  }
})();
