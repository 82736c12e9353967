// Makes the picker faster: it shows the visitor's own zone at once, and other days, months and zones without a new
// page. Everything works without this file, and the browser takes over if anything here fails.
(() => {
  'use strict';
  const said = document.getElementById('said');
  let latest = 0;
  let at;

  const shown = () => document.querySelector('main');
  const here = () => location.pathname + location.search;

  // Shows the page at this address in place of the current one. It announces what it shows, and keeps the keyboard
  // focus or moves it to what the visitor asked for.
  async function show(address, asked, keep) {
    const turn = ++latest;
    shown().setAttribute('aria-busy', 'true');
    try {
      const answer = await fetch(address, { headers: { Accept: 'text/html' }, credentials: 'same-origin' });
      const text = await answer.text();
      if (turn !== latest) return;
      const page = new DOMParser().parseFromString(text, 'text/html');
      const next = page.querySelector('main[data-zone]');
      if (!answer.ok || !next) throw new Error('not a picker');
      const active = document.activeElement && document.activeElement.id;
      shown().replaceWith(document.adoptNode(next));
      document.title = page.title;
      if (keep === 'push') history.pushState(null, '', address);
      if (keep === 'replace') history.replaceState(null, '', address);
      at = here();
      tell(asked, active);
    } catch {
      // The page is of another kind, or there is no network: let the browser load it.
      if (turn === latest && asked) location.assign(address);
      shown().removeAttribute('aria-busy');
    }
  }

  function tell(asked, active) {
    const heading = document.getElementById(asked === 'month' ? 'month' : 'day');
    const zone = document.querySelector('#tz option:checked');
    if (asked === 'day') heading.focus();
    else if (asked) (document.getElementById(active) || heading).focus();
    const label = document.querySelector('label[for="tz"]');
    const zoneText = zone ? label.textContent + ' ' + zone.textContent : '';
    // A focused heading is read by itself. Announce the rest.
    said.textContent = asked === 'day' || asked === 'month' ? heading.dataset.say : zoneText;
  }

  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[data-go]');
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    show(link.getAttribute('href'), link.dataset.go, 'push');
  });

  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!form.matches('.zones')) return;
    event.preventDefault();
    show(form.getAttribute('action') + '?' + new URLSearchParams(new FormData(form)), 'zone', 'push');
  });

  window.addEventListener('popstate', () => {
    // A jump within the page, such as to its content, does not load another page.
    if (shown().dataset.zone && here() !== at) show(here(), 'day', null);
  });

  at = here();

  // Without a zone in the address, times are shown in the page's zone. Ask for the visitor's zone instead.
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const query = new URLSearchParams(location.search);
  if (own && !query.has('tz') && shown().dataset.zone && shown().dataset.zone !== own) {
    query.set('tz', own);
    show(location.pathname + '?' + query, null, 'replace');
  }
})();
