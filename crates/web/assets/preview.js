// Refreshes the preview of a booking page a moment after typing stops. Without this file, the buttons of the form do.
(() => {
  'use strict';
  const PAUSE_MS = 1000;
  let button = document.querySelector('button[data-preview]');
  let visible = document.querySelector('iframe[name="preview"]');
  if (!button || !visible) return;
  const form = button.form;
  let coming;
  let frames = 0;
  let timer;
  let shown;

  // The window of a frame; undefined if it shows no page of this server, such as an error of the browser.
  function own(frame) {
    try {
      return frame.contentWindow.location.href ? frame.contentWindow : undefined;
    } catch {
      return undefined;
    }
  }

  // Each preview gets a frame of its own. So the history has no entry for it, and the earlier one stays until it is there.
  function prepare() {
    if (coming) coming.remove();
    const frame = visible.cloneNode(false);
    // A window keeps its name when its frame loses it.
    frames += 1;
    frame.name = `preview-${frames}`;
    button.formTarget = frame.name;
    frame.hidden = true;
    coming = frame;
    visible.after(frame);
    frame.addEventListener('load', () => {
      const [after, before] = [own(frame), own(visible)];
      if (frame !== coming || (after && after.location.href === 'about:blank')) return;
      frame.hidden = false;
      if (after && before) after.scrollTo(0, before.scrollY);
      visible.remove();
      visible = frame;
      coming = undefined;
    });
  }

  function refresh() {
    const typed = new URLSearchParams(new FormData(form)).toString();
    if (typed === shown) return;
    shown = typed;
    form.requestSubmit(button);
  }

  form.addEventListener('submit', (event) => {
    if (!event.submitter || !('preview' in event.submitter.dataset)) return;
    button = event.submitter;
    prepare();
  });
  // A browser can only point to a field that it shows.
  form.addEventListener('invalid', (event) => {
    const section = event.target.closest('details');
    if (section) section.open = true;
  }, true);
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, PAUSE_MS);
  });
  refresh();
})();
