// Connects a user's calendar. /console/connect shows what a connection link asks for. /console/connections continues
// from there, and lists the connections. Both use the JSON API with the session's cookie, and insert its answers as
// text only. Somebody who is not signed in goes to /console/sign-in first, which leads back.
(() => {
  'use strict';
  const SECRET = 'kalends.link.secret';
  const LINK = 'kalends.link';
  const CONNECT = '/console/connect';
  const CONNECTIONS = '/console/connections';
  const NAMES = { google: 'Google', microsoft: 'Microsoft' };
  const ERRORS = {
    oauth_state: 'Connecting took too long, or was started in another browser. Please start again.',
    oauth_declined: 'You or your provider declined. Nothing was shared.',
    oauth_failed: 'Your provider did not confirm your consent. Please start again.',
    provider_unavailable: 'Your provider is not responding. Please try again in a few minutes.',
    link_over: 'The link has expired, or somebody else has used it. Please ask for a new one.',
    other_account: 'You gave consent with a different account than the connected one. Please choose the same account.',
    connection_gone: 'The connection has been removed. Please connect the account again.',
  };
  const STATUS = {
    active: 'Connected',
    error: 'The last refresh failed; it will be retried',
    reauthorization_required: 'The provider needs your consent again',
    paused: 'Paused: its calendars do not count',
  };
  const DATA = { unread: 'not read yet', fresh: 'up to date', stale: 'more than an hour old', unavailable: 'more than a day old' };
  const card = document.getElementById('card');
  const said = document.getElementById('said');
  const languages = navigator.languages.filter((language) => /^en\b/.test(language));
  const clock = new Intl.DateTimeFormat(languages.concat('en-GB'), { dateStyle: 'medium', timeStyle: 'short' });

  // Calls the API. An error answer is thrown with its status and the API's own message.
  async function api(method, path, body) {
    const headers = body ? { 'Content-Type': 'application/json' } : {};
    const answer = await fetch('/v1' + path, { method, headers, body: body && JSON.stringify(body) });
    const json = await answer.json().catch(() => ({}));
    if (answer.ok) return json;
    const { message = 'The service returned an unexpected answer. Please try again.' } = json.error || {};
    const sentence = message.charAt(0).toUpperCase() + message.slice(1) + (message.endsWith('.') ? '' : '.');
    throw Object.assign(new Error(sentence), { status: answer.status });
  }

  // Creates an element. A property that the element does not have becomes an attribute. Its children are elements or
  // text.
  function h(name, properties, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key in element) element[key] = value;
      else element.setAttribute(key, value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  }

  const time = (text) => h('time', { dateTime: text }, clock.format(new Date(text)));
  const link = (text, href, className) => h('a', { href, className: className || 'back' }, text);
  const actions = (...entries) => h('ul', { className: 'actions' }, entries.flat().filter(Boolean).map((entry) => h('li', null, entry)));
  const button = (text, className, act) => h('button', { type: 'button', className, onclick: () => attempt(act) }, text);
  const facts = (...pairs) => h('dl', null, pairs.map(([name, ...value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
  const account = (connection) => (NAMES[connection.provider] || connection.provider) + (connection.label ? ` (${connection.label})` : '');
  const accountSince = (connection) => [account(connection), ', connected ', time(connection.created_at)];

  // Replaces the content, and moves the focus to its heading for keyboards and screen readers.
  function show(title, ...children) {
    const heading = h('h1', { tabIndex: -1 }, title);
    card.replaceChildren(heading, ...children.flat().filter(Boolean));
    document.title = title;
    heading.focus();
  }

  function fail(message) {
    card.querySelectorAll('.alert').forEach((old) => old.remove());
    const alert = h('div', { className: 'alert', role: 'alert', tabIndex: -1 }, h('p', null, message));
    card.querySelector('h1').after(alert);
    alert.scrollIntoView({ block: 'nearest' });
  }

  // Runs one action at a time. If the session has ended, the user signs in first.
  let busy = false;
  async function attempt(act) {
    if (busy) return;
    busy = true;
    document.querySelector('main').setAttribute('aria-busy', 'true');
    try {
      await act();
    } catch (error) {
      if (error.status === 401) signIn();
      else fail(error.message);
    } finally {
      busy = false;
      document.querySelector('main').removeAttribute('aria-busy');
    }
  }

  function choice(type, name, value, text, checked) {
    const id = `${name}-${value}`;
    return h('div', { className: 'choice' }, h('input', { type, name, id, value, checked }), h('label', { for: id }, text));
  }

  function form(act, ...children) {
    const submit = (event) => {
      event.preventDefault();
      attempt(() => act(new FormData(event.target)));
    };
    return h('form', { onsubmit: submit }, children);
  }

  const signIn = () => location.assign(`/console/sign-in?next=${location.pathname}`);
  const signOut = async () => {
    await api('POST', '/auth/signout');
    signIn();
  };
  const whoIsIn = (me) => h('p', { className: 'hint' }, `Signed in as ${me.user.email}, ${me.org.name}. `,
    h('button', { type: 'button', className: 'plain', onclick: () => attempt(signOut) }, 'Sign in as somebody else'));

  // The link has been used or declined.
  function forget() {
    sessionStorage.removeItem(SECRET);
    sessionStorage.removeItem(LINK);
  }

  async function connect() {
    const token = sessionStorage.getItem(SECRET);
    if (!token) {
      show('This link is incomplete', h('p', null, 'Please use the whole link that you received, down to the last character.'),
        actions(link('See what is connected', CONNECTIONS, 'quiet')));
      return;
    }
    const me = await api('GET', '/auth/me');
    try {
      offer(await api('POST', '/connection-links/open', { token }), me, (await api('GET', '/calendar-connections?limit=200')).data);
    } catch (error) {
      if (error.status === 404 || error.status === 400) await elsewhere(me);
      else if (error.status === 409) show('This link cannot be used', h('p', null, error.message), whoIsIn(me));
      else throw error;
    }
  }

  async function elsewhere(me) {
    const others = (await api('GET', '/auth/orgs')).orgs.filter((org) => !org.active);
    const change = (org) => button(org.name, 'quiet', async () => {
      await api('POST', `/auth/orgs/${org.id}/switch`);
      await connect();
    });
    show('This link is unknown here', h('p', null, 'It may be cut short, or belong to a different organization than the one you are signed in to.'),
      others.length ? [h('h2', null, 'Try another of your organizations'), actions(others.map(change))] : null,
      whoIsIn(me));
  }

  function offer(asked, me, connections) {
    sessionStorage.setItem(LINK, JSON.stringify({ id: asked.id, agent: asked.agent_id, name: asked.agent_name }));
    const who = asked.agent_name || me.org.name;
    const begun = async (provider) => {
      const body = { connection_link_id: asked.id };
      location.assign((await api('POST', `/calendar-connections/oauth/${provider}/start`, body)).authorization_url);
    };
    const decline = async () => {
      await api('POST', `/connection-links/${asked.id}/decline`);
      forget();
      show('You have declined', h('p', null, `Nothing was shared, and ${who} is notified. You can close this page.`));
    };
    const publishing = asked.capabilities.includes('publishing') ? 'It would also like to add events to your calendar. This page does not ask you to allow that.' : null;
    const none = publishing ? 'None of the providers configured here can take events from agents, so this link cannot connect anything. You can decline it.'
      : 'The operator of this service has not configured any calendar provider.';
    const providers = asked.providers.map((name) => button(`Connect ${NAMES[name] || name}`, 'primary', () => begun(name)));
    const usable = connections.filter(({ provider, status }) => asked.providers.includes(provider) && ['active', 'error'].includes(status));
    const known = usable.map((connection) => h('li', null,
      h('button', { type: 'button', onclick: () => attempt(() => choose(connection.id, asked.id)) },
        h('span', null, accountSince(connection)), h('span', { className: 'go' }, 'Choose calendars'))));
    show('Connect your calendar',
      h('p', null, h('strong', null, who), ' would like to know when you are busy, so that nothing is scheduled for you then.'),
      facts(['Calendar', asked.calendar_name || 'removed'], ['Organization', me.org.name],
        ['What is shared', 'When you are busy, and nothing else: no titles, no guests, no places.'],
        ['Valid until', time(asked.expires_at)]),
      publishing && h('p', null, publishing),
      providers.length ? actions(providers) : h('p', null, none),
      known.length ? [h('h2', null, 'Or use an account that is already connected'), h('ul', { className: 'offers' }, known)] : null,
      h('div', { className: 'foot' }, whoIsIn(me), button('Decline', 'quiet', decline)));
  }

  // Chooses which calendars of an account count, and for which agents, with or without a link.
  async function choose(connection, linkId) {
    const path = `/calendar-connections/${connection}`;
    const [shown, { data: calendars }] = await Promise.all([api('GET', path), api('GET', path + '/external-calendars')]);
    const remembered = JSON.parse(sessionStorage.getItem(LINK) || 'null');
    const asker = linkId && remembered && remembered.id === linkId ? remembered : {};
    // A calendar shared by the organization does not belong to an agent: only a grant to all agents counts there.
    const usual = asker.agent ? 'selected' : asker.id ? 'all' : 'all_current';
    const save = async (data) => {
      const ids = data.getAll('calendar');
      if (!ids.length) return fail('Please choose at least one calendar.');
      const body = { external_calendar_ids: ids, audience: data.get('audience') };
      if (body.audience === 'selected') body.agent_ids = [asker.agent];
      if (linkId) body.connection_link_id = linkId;
      await api('POST', '/availability-grants', body);
      if (linkId) forget();
      show('Done', h('p', null, 'You can close this page.'), actions(link('See what is connected', CONNECTIONS, 'quiet')));
    };
    const audience = (value, text) => choice('radio', 'audience', value, text, value === usual);
    show('Choose your calendars', h('p', { className: 'lead' }, `From your account at ${account(shown)}. Only when you are busy is shared.`),
      form(save,
        h('fieldset', null, h('legend', null, 'Which calendars make you busy?'),
          calendars.map((calendar) => choice('checkbox', 'calendar', calendar.id, calendar.name, calendar.primary))),
        h('fieldset', null, h('legend', null, 'For whom?'),
          asker.agent ? audience('selected', asker.name ? `This agent only: ${asker.name}` : 'This agent only') : null,
          // No current agent owns a calendar shared by the organization.
          !asker.id || asker.agent ? audience('all_current', 'All current agents') : null,
          audience('all', 'All agents, including future ones')),
        actions(h('button', { className: 'primary' }, 'Save'), linkId ? link('Back to the link', CONNECT, 'quiet') : link('Cancel', CONNECTIONS, 'quiet'))));
  }

  async function manage(notice) {
    const me = await api('GET', '/auth/me');
    const [connections, grants] = await Promise.all(['/calendar-connections', '/availability-grants'].map((path) => api('GET', path + '?limit=200')));
    const listed = await Promise.all(connections.data.map((connection) => api('GET', `/calendar-connections/${connection.id}/external-calendars`)));
    const names = new Map(listed.flatMap(({ data }) => data.map((calendar) => [calendar.id, calendar.name])));
    const all = (entries, empty, shown) => entries.length ? h('ul', { className: 'entries' }, entries.map(shown)) : h('p', null, empty);
    show('Connected calendars', notice && h('p', { className: 'hint' }, notice),
      all(connections.data, 'No account is connected.', connected), h('h2', null, 'Who they count for'),
      all(grants.data, 'They do not count for anybody.', (grant) => granted(grant, names)), h('div', { className: 'foot' }, whoIsIn(me)));
    said.textContent = notice || '';
  }

  function connected(connection) {
    const path = `/calendar-connections/${connection.id}`;
    const act = (text, className, way, notice) => button(text, className, async () => {
      await api('POST', path + way);
      await manage(notice);
    });
    const again = async () => location.assign((await api('POST', path + '/reauthorize')).authorization_url);
    const disconnect = async () => {
      if (!confirm(`Disconnect ${account(connection)}? Everything stored about it will be deleted, and its calendars will no longer count for anybody.`)) return;
      await api('DELETE', path);
      await manage('Disconnected.');
    };
    const paused = connection.status === 'paused';
    const refreshed = connection.last_refreshed_at ? [DATA[connection.data] + ', read ', time(connection.last_refreshed_at)] : [DATA.unread];
    return h('li', null, h('h3', null, account(connection)),
      facts(['Status', STATUS[connection.status] || connection.status], ['Busy times', ...refreshed], ['Connected', time(connection.created_at)]),
      connection.last_error && h('p', { className: 'problem' }, connection.last_error),
      actions(button('Choose calendars', 'quiet', () => choose(connection.id)),
        !paused && connection.status !== 'reauthorization_required' && act('Refresh', 'quiet', '/refresh', 'Refreshing. This takes a moment.'),
        paused ? act('Resume', 'quiet', '/resume', 'Resumed.') : act('Pause', 'quiet', '/pause', 'Paused.'),
        button('Renew consent', 'quiet', again), button('Disconnect', 'danger', disconnect)));
  }

  function granted(grant, names) {
    const count = grant.agent_ids ? grant.agent_ids.length : 0;
    const whom = grant.audience === 'all' ? 'All agents, including future ones'
      : (count === 1 ? '1 agent' : `${count} agents`) + (grant.audience === 'all_current' ? ', all at that time' : '');
    const back = async () => {
      await api('DELETE', `/availability-grants/${grant.id}`);
      await manage('Revoked.');
    };
    return h('li', null, h('h3', null, grant.external_calendar_ids.map((id) => names.get(id) || 'a removed calendar').join(', ')),
      facts(['For', whom], ['Since', time(grant.created_at)]), actions(button('Revoke', 'quiet', back)));
  }

  async function connections() {
    const asked = new URLSearchParams(location.search);
    if (asked.has('error')) {
      const back = sessionStorage.getItem(SECRET) ? link('Back to the link', CONNECT, 'primary') : link('See what is connected', CONNECTIONS, 'primary');
      show('Nothing was connected', h('p', null, ERRORS[asked.get('error')] || 'Something went wrong. Please start again.'), actions(back));
    } else if (asked.has('connected')) await choose(asked.get('connected'), asked.get('link'));
    else await manage();
  }

  // The fragment of the address. The link that skips to the content has one too.
  const given = () => location.hash === '#main' ? '' : location.hash.slice(1);

  function begin() {
    if (card.dataset.page !== 'connect') return connections();
    // Keep the secret out of the address and the history.
    if (given()) {
      forget();
      sessionStorage.setItem(SECRET, given());
      history.replaceState(null, '', location.pathname);
    }
    return connect();
  }

  // The user may paste another link while this one is shown.
  window.addEventListener('hashchange', () => given() && location.reload());
  attempt(begin);
})();
