// Adds a button to each text that is there to be copied. Without this file, and in browsers that give the page no
// clipboard, the reader marks the text.
(() => {
  'use strict';
  const SHOWN_MS = 3000;
  const said = document.getElementById('said');
  if (!navigator.clipboard || !said) return;
  // One outcome is shown at a time, since all buttons share the text that screen readers hear.
  let timer;
  let reset = () => {};

  for (const source of document.querySelectorAll('[data-copy]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet copy';
    const label = document.createElement('span');
    label.textContent = 'Copy';
    const what = document.createElement('span');
    what.className = 'unseen';
    what.textContent = ` ${source.dataset.copy}`;
    button.append(label, what);
    (source.closest('pre') || source).after(button);

    button.addEventListener('click', async () => {
      let outcome = 'Copied';
      try {
        await navigator.clipboard.writeText(('value' in source ? source.value : source.textContent).trim());
      } catch {
        outcome = 'Not copied. Mark the text instead.';
      }
      clearTimeout(timer);
      reset();
      reset = () => {
        label.textContent = 'Copy';
        what.hidden = false;
        said.textContent = '';
      };
      label.textContent = outcome;
      // The outcome is a sentence of its own.
      what.hidden = true;
      said.textContent = outcome;
      timer = setTimeout(reset, SHOWN_MS);
    });
  }
})();
