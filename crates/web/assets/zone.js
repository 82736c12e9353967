// Chooses the browser's time zone in a form that has not been sent yet. Without this file, the choice is UTC.
(() => {
  'use strict';
  const field = document.getElementById('timezone');
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!field || !own || !('own' in field.dataset)) return;
  // The list has one zone of each kind.
  if (![...field.options].some((option) => option.value === own)) field.add(new Option(own.replaceAll('_', ' '), own));
  field.value = own;
})();
