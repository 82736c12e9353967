// Fills in the code of a form from the address of a link in an email. The form also works without this: one can copy the
// code. A form with only the code is sent at once.
(() => {
  'use strict';
  const fill = () => {
    const code = document.getElementById('code');
    // The link that skips to the content has a fragment too.
    if (!code || location.hash === '' || location.hash === '#main') return;
    code.value = location.hash.slice(1);
    // Keep the code out of the address and the history.
    history.replaceState(null, '', location.pathname);
    if ('sends' in code.form.dataset) code.form.requestSubmit();
  };
  // The user may paste another link while the page is open.
  window.addEventListener('hashchange', fill);
  fill();
})();
