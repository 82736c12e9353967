// Copy buttons, the language of the examples, and the search. Every page works without this, except for the search.
'use strict';

(() => {
  // A button that copies stands beside its code, not inside: the code can be scrolled.
  if (navigator.clipboard) {
    for (const code of document.querySelectorAll('pre')) {
      const around = document.createElement('div');
      around.className = 'code';
      code.replaceWith(around);
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'copy';
      button.textContent = 'Copy';
      button.addEventListener('click', async () => {
        try {
          await navigator.clipboard.writeText(code.textContent);
          button.textContent = 'Copied';
        } catch {
          button.textContent = 'Not copied';
        }
        setTimeout(() => { button.textContent = 'Copy'; }, 2000);
      });
      around.append(code, button);
    }
  }

  // All examples show the language that the reader opened last.
  const KEY = 'kalends-docs-language';
  const samples = [...document.querySelectorAll('details.sample')];
  function stored() {
    try { return localStorage.getItem(KEY); } catch { return null; }
  }
  function show(language) {
    if (!samples.some((sample) => sample.dataset.language === language)) return;
    for (const list of new Set(samples.map((sample) => sample.parentElement))) {
      const own = samples.filter((sample) => sample.parentElement === list);
      if (!own.some((sample) => sample.dataset.language === language)) continue;
      for (const sample of own) sample.open = sample.dataset.language === language;
    }
  }
  show(stored());
  for (const sample of samples) {
    sample.querySelector('summary').addEventListener('click', (event) => {
      if (sample.open) return;
      event.preventDefault();
      const before = sample.getBoundingClientRect().top;
      show(sample.dataset.language);
      scrollBy(0, sample.getBoundingClientRect().top - before);
      try { localStorage.setItem(KEY, sample.dataset.language); } catch { /* The choice lasts for this page. */ }
    });
  }

  const results = document.getElementById('results');
  if (!results) return;
  const field = document.getElementById('q');
  const found = document.getElementById('found');
  const SHOWN = 50;

  // How well a word fits: in a title it counts most.
  function fit(entry, word) {
    const begins = (text) => text.startsWith(word) || text.includes(' ' + word) || text.includes('/' + word);
    let points = 0;
    if (begins(entry.t.toLowerCase())) points += 8;
    if (begins(entry.h.toLowerCase())) points += 6;
    if ((' ' + entry.w + ' ').includes(' ' + word + ' ')) points += 3;
    else if ((' ' + entry.w).includes(' ' + word)) points += 1;
    return points;
  }

  function search(entries, text) {
    const words = text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter((word) => word.length > 1);
    if (words.length === 0) return null;
    return entries
      .map((entry) => ({ entry, points: words.map((word) => fit(entry, word)) }))
      .filter(({ points }) => points.every((one) => one > 0))
      .map(({ entry, points }) => ({ entry, points: points.reduce((sum, one) => sum + one, 0) }))
      .sort((one, other) => other.points - one.points)
      .map(({ entry }) => entry);
  }

  function list(entries) {
    results.replaceChildren(...entries.slice(0, SHOWN).map((entry) => {
      const item = document.createElement('li');
      const link = document.createElement('a');
      link.href = entry.a;
      link.textContent = entry.h ? entry.t + ': ' + entry.h : entry.t;
      const text = document.createElement('p');
      text.textContent = entry.s;
      item.append(link, text);
      return item;
    }));
  }

  let entries = null;
  function renew() {
    const matching = search(entries, field.value);
    list(matching ?? []);
    if (matching === null) found.textContent = 'Type a word to search for.';
    else if (matching.length === 0) found.textContent = 'Nothing was found.';
    else if (matching.length === 1) found.textContent = '1 place';
    else found.textContent = matching.length + ' places' + (matching.length > SHOWN ? ', the best ' + SHOWN + ' shown' : '');
  }

  async function begin() {
    field.value = new URLSearchParams(location.search).get('q') ?? '';
    found.textContent = 'Searching…';
    try {
      const answer = await fetch(results.dataset.index);
      entries = await answer.json();
    } catch {
      found.textContent = 'The index could not be loaded.';
      return;
    }
    renew();
    let waiting = 0;
    field.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        renew();
        history.replaceState(null, '', '?' + new URLSearchParams({ q: field.value }));
      }, 120);
    });
    document.querySelector('form[role=search]').addEventListener('submit', (event) => {
      event.preventDefault();
      renew();
    });
  }
  begin();
})();
