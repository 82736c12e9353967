// Opens every kind of page of the console in Chromium, from the real server, signed in by the keyboard alone. Checks each
// page against the rules of axe-core in both colour schemes at the widths of a phone and a desktop, that the keyboard
// reaches everything on it, and its size. Sends the forms that create something with nothing filled in, and checks the
// pages that say so too.
//
// KALENDS_SERVER names the server's program. With `KALENDS_RENEW_PICTURES=1`, it takes the pictures of the documentation
// again; with `KALENDS_PICTURES=FOLDER`, pictures of every page in both schemes at both widths are written there.
'use strict';

const { mkdirSync, rmSync } = require('node:fs');
const { createServer } = require('node:http');
const { join } = require('node:path');
const { expect, newPage, prefer, problems, rules, run, SCHEMES, WIDTHS } = require('./browser.cjs');
const { api, serve, signUp, EMAIL, PASSWORD } = require('./server.cjs');

const PICTURES = join(__dirname, '../../docs/console');
const TOKEN = 'an-operators-long-token';
// Compressed, with the style sheets and scripts of the page.
const BYTES_MAX = 60 * 1024;
// Pages of one kind: their addresses differ in identifiers, dates and other parameters.
const KINDS_MAX = 200;
const LONG = 'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3);

// Something of everything that an organization can have, some of it with long names.
async function furnish(base) {
  const call = await signUp(base);
  const agents = [];
  for (const [name, type] of [['Scout', 'ai'], ['Grace Hopper', 'human'], [LONG, 'resource']]) {
    agents.push((await call('POST', '/v1/agents', { name, type, description: `About ${name}` })).id);
  }
  const calendars = [];
  for (const [index, name] of ['Meetings', 'Work', LONG].entries()) {
    const calendar = { name, timezone: 'Europe/Berlin' };
    calendars.push((await call('POST', `/v1/agents/${agents[index]}/calendars`, calendar)).id);
  }
  const monday = new Date();
  monday.setUTCHours(0, 0, 0, 0);
  monday.setUTCDate(monday.getUTCDate() - (monday.getUTCDay() + 6) % 7);
  const at = (day, hour, minute = 0) => new Date(monday.getTime() + ((day * 24 + hour) * 60 + minute) * 60_000).toISOString();
  const event = (calendar, title, start, end, more = {}) =>
    call('POST', `/v1/calendars/${calendar}/events`, { title, start_time: start, end_time: end, ...more });
  await event(calendars[0], 'Standup', at(0, 8), at(0, 8, 30), { recurrence_rule: 'FREQ=DAILY;COUNT=10', recurrence_timezone: 'Europe/Berlin' });
  const attendees = [{ email: 'grace@example.com', name: 'Grace Hopper', role: 'required' }, { email: 'alan@example.com', role: 'optional' }];
  await event(calendars[0], 'Planning', at(1, 9), at(1, 10, 30), { attendees, location: 'Room 2', description: 'Bring the plan.' });
  await event(calendars[1], 'Review', at(1, 9, 30), at(1, 11), { status: 'tentative' });
  await event(calendars[2], LONG, at(1, 10), at(1, 11), { description: LONG });
  await event(calendars[0], 'Lunch', at(3, 11), at(3, 12));
  const soon = Date.now() + 3 * 3_600_000;
  const [from, to] = [0, 30].map((minute) => new Date(soon + minute * 60_000).toISOString());
  await event(calendars[0], 'Call with Alan', from, to, { status: 'hold', hold_expires_at: new Date(Date.now() + 14 * 60_000).toISOString() });
  const slots = [9, 10, 14].map((hour) => ({ start_time: at(15, hour), end_time: at(15, hour + 1) }));
  await call('POST', '/v1/scheduling/proposals', {
    title: 'Kickoff', organizer_agent_id: agents[0], participant_agent_ids: [agents[1], agents[2]], slots,
    calendar_id: calendars[0], expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  }).catch((error) => problems.push(`no proposal: ${error.message}`));
  await call('PUT', `/v1/calendars/${calendars[1]}/availability-rules`, {
    working_hours: { mon: { start: '09:00', end: '12:30' }, thu: { start: '08:00', end: '17:00' } }, buffer_before_minutes: 15,
  }).catch((error) => problems.push(`no rules: ${error.message}`));
  const page = await call('POST', '/v1/booking-pages', {
    calendar_id: calendars[0], title: 'Intro call', duration_minutes: 30, slug: 'intro',
    questions: [{ id: 'topic', label: 'What is it about?', type: 'text', required: true }],
  }).catch((error) => problems.push(`no booking page: ${error.message}`));
  if (page?.slug) {
    const free = await (await fetch(`${base}/book/${page.slug}/slots`)).json();
    const slot = (free.data ?? free.slots ?? [])[0];
    const booked = slot && await fetch(`${base}/book/${page.slug}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ start: slot.start_time ?? slot.start, name: LONG.slice(0, 200), email: 'guest@example.com', answers: { topic: 'Engines' } }),
    });
    if (!booked?.ok) problems.push(`no booking: ${booked && await booked.text()} ${JSON.stringify(free).slice(0, 200)}`);
  }
  await call('POST', '/v1/auth/keys/scoped', { agent_id: agents[0], label: 'Laptop' });
  const asking = await call('POST', '/v1/auth/keys/scoped', { agent_id: agents[1], label: LONG.slice(0, 100), requires_approval: 'writes' })
    .catch((error) => problems.push(`no key that asks: ${error.message}`));
  if (asking?.key) {
    const write = { title: LONG, description: LONG, start_time: at(2, 14), end_time: at(2, 15) };
    await api(base, asking.key)('POST', `/v1/calendars/${calendars[1]}/events`, write)
      .catch((error) => problems.push(`no approval: ${error.message}`));
  }
  await call('POST', '/v1/webhooks', { url: 'https://hooks.example.com/kalends', events: ['*'] });
  await call('POST', `/v1/agents/${agents[0]}/ical-subscriptions`, { calendar_id: calendars[0], url: 'https://feeds.example.com/team.ics', label: 'Team' })
    .catch((error) => problems.push(`no subscription: ${error.message}`));
  await call('POST', '/v1/auth/members', { email: 'grace@example.com', role: 'member' });
  await connect(base, call).catch((error) => problems.push(`no connected calendar: ${error.message}`));
}

// Microsoft, as far as the server uses it: an account with two calendars, which takes every event. Returns the settings
// with which the server connects it, and a function that ends it.
async function microsoft() {
  let written = 0;
  const calendars = ['Calendar', LONG].map((name, place) => ({ id: `calendar-${place}`, name, isDefaultCalendar: place === 0 }));
  const created = ({ id, method }) => (method === 'POST'
    ? { id, status: 201, headers: {}, body: { id: `event-${written += 1}`, '@odata.etag': 'W/"1"' } }
    : { id, status: 404, headers: {}, body: { error: { code: 'ErrorItemNotFound', message: 'not found' } } });
  const said = (path, body) => {
    if (path === '/token') {
      const scope = 'offline_access https://graph.microsoft.com/Calendars.ReadWrite';
      return { access_token: 'access', refresh_token: 'refresh', token_type: 'Bearer', expires_in: 3599, scope };
    }
    if (path.endsWith('/$batch')) return { responses: JSON.parse(body).requests.map(created) };
    return { value: path.endsWith('/me/calendars') ? calendars : [] };
  };
  const provider = createServer((request, answer) => {
    const { pathname, searchParams } = new URL(request.url, 'http://provider');
    if (pathname === '/authorize') {
      const back = new URL(searchParams.get('redirect_uri'));
      back.search = new URLSearchParams({ code: 'code', state: searchParams.get('state') });
      answer.writeHead(302, { location: back.href }).end();
      return;
    }
    let body = '';
    request.on('data', (part) => { body += part; });
    request.on('end', () => {
      answer.setHeader('content-type', 'application/json');
      answer.end(JSON.stringify(said(pathname, body)));
    });
  });
  await new Promise((resolve) => { provider.listen(0, '127.0.0.1', resolve); });
  const address = `127.0.0.1:${provider.address().port}`;
  const named = {
    CLIENT_ID: 'client', CLIENT_SECRET: 'secret', AUTHORIZE_URL: `http://${address}/authorize`, TOKEN_URL: `http://${address}/token`,
    ISSUER: `http://${address}`, CALENDARS: 'true', CALENDAR_URL: `http://${address}/v1.0`,
  };
  const settings = Object.fromEntries(Object.entries(named).map(([name, value]) => [`KALENDS_OAUTH_MICROSOFT_${name}`, value]));
  return { settings: { ...settings, KALENDS_EGRESS_ALLOW: address }, end: () => { provider.closeAllConnections(); provider.close(); } };
}

// Connects the account, whose busy times count for all agents, and copies the events of the first calendar to it.
async function connect(base, call) {
  const headers = { 'content-type': 'application/json' };
  const post = (path, body, more = {}) => fetch(base + path, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const { token } = await (await post('/v1/auth/signin', { email: EMAIL, password: PASSWORD })).json();
  const begun = await post('/v1/calendar-connections/oauth/microsoft/start', { publishing: true }, { authorization: `Bearer ${token}` });
  const cookie = begun.headers.get('set-cookie').split(';')[0];
  const { authorization_url: asked } = await begun.json();
  const back = new URL((await fetch(asked, { redirect: 'manual' })).headers.get('location'));
  const ended = await fetch(base + back.pathname + back.search, { redirect: 'manual', headers: { cookie } });
  const connection = new URL(ended.headers.get('location'), base).searchParams.get('connected');
  const { data: theirs } = await call('GET', `/v1/calendar-connections/${connection}/external-calendars`);
  await call('POST', '/v1/availability-grants', { external_calendar_ids: [theirs[0].id], audience: 'all' });
  // An example calendar, whose busy times a person draws on a page.
  await post('/v1/calendar-connections/example', {}, { authorization: `Bearer ${token}` });
  const { data: ours } = await call('GET', '/v1/calendars?include=all');
  await call('PUT', `/v1/calendars/${ours[0].id}/external-destination`, { external_calendar_id: theirs[1].id });
}

// The address of the page on which a person decides about a connector.
async function connecting(base) {
  const redirect = 'https://assistant.example/callback';
  const answer = await fetch(`${base}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: LONG.slice(0, 100), redirect_uris: [redirect] }),
  });
  const { client_id: client } = await answer.json();
  const asked = {
    response_type: 'code', client_id: client, redirect_uri: redirect, state: 'x', resource: `${base}/mcp`,
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256', scope: 'freebusy:org',
  };
  return `/console/authorize?${new URLSearchParams(asked)}`;
}

// Signs in without a mouse.
async function signIn(page, base) {
  await page.goto(`${base}/console/sign-in`, { waitUntil: 'networkidle0' });
  await tabTo(page, '#email');
  await page.keyboard.type(EMAIL);
  await tabTo(page, '#password');
  await page.keyboard.type(PASSWORD);
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  expect(`the sign-in leads to ${page.url()}`, page.url() === `${base}/console`);
}

async function tabTo(page, selector) {
  for (let steps = 0; steps < 50; steps += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${selector} on ${page.url()}`);
}

// The kind of an address: identifiers and parameters differ within it. Views and filters have kinds of their own.
function kind(base, address) {
  const url = new URL(address, base);
  const path = url.pathname.replace(/[a-z]{3,4}_[0-9a-z]{26}[^/]*/g, '{id}').replace(/(\/operator\/[a-z]+\/)[^/]+/, '$1{id}');
  const view = ['view', 'status'].map((name) => url.searchParams.get(name)).filter(Boolean).join('-');
  return view ? `${path}?${view}` : path;
}

function picture(name) {
  return name.replace(/^\/console\/?/, '').replace(/\{id\}\/?/g, 'one-').replace(/[^a-z]+/g, '-').replace(/^-|-$/g, '') || 'overview';
}

// The keyboard goes through everything that can be used, in some order, shows where it is, and leaves again.
async function keyboard(page, name) {
  await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  const usable = await page.evaluate(() => {
    const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, iframe, [tabindex]')];
    const used = all.filter((one) => one.tabIndex >= 0 && !one.disabled && one.type !== 'hidden' && one.checkVisibility({ visibilityProperty: true }));
    // Tab reaches one radio button of a group.
    const groups = new Set();
    return used.filter((one) => one.type !== 'radio' || !(groups.has(one.name) || !groups.add(one.name))).length;
  });
  const seen = new Set();
  let [hidden, ends] = ['', 0];
  // A field for a date and a time has a stop for each of its parts.
  for (let steps = 0; steps < 2 * usable + 50; steps += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const one = document.activeElement;
      if (!one || one === document.body) return null;
      one.dataset.reached ??= String(document.querySelectorAll('[data-reached]').length);
      const style = getComputedStyle(one);
      const box = one.getBoundingClientRect();
      const shows = one.tagName === 'IFRAME' || style.outlineStyle !== 'none' || style.boxShadow !== 'none';
      return { reached: one.dataset.reached, shows: shows && box.width > 0, html: one.outerHTML.slice(0, 80) };
    });
    // A field that gets the focus when the page opens is where the first round begins.
    if (at === null && (ends += 1) === 2) break;
    if (at === null) continue;
    if (!at.shows) hidden = at.html;
    seen.add(at.reached);
  }
  expect(`${name}: the keyboard reaches ${seen.size} of ${usable}`, seen.size >= Math.min(usable, 400));
  expect(`${name}: the focus cannot be seen on ${hidden}`, hidden === '');
}

// The bytes of the page and of what it loads, compressed.
async function size(page, name) {
  const session = await page.createCDPSession();
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  session.on('Network.loadingFinished', (event) => { bytes += event.encodedDataLength; });
  await page.reload({ waitUntil: 'networkidle0' });
  await session.detach();
  expect(`${name}: ${bytes} bytes`, bytes <= BYTES_MAX);
  return bytes;
}

async function pictures(page, name) {
  const folder = process.env.KALENDS_PICTURES;
  // Filtered lists look like those without a filter.
  const renew = process.env.KALENDS_RENEW_PICTURES === '1' && (!name.includes('?') || name.startsWith('/console/calendar'));
  for (const width of WIDTHS) {
    for (const scheme of SCHEMES) {
      const kept = renew && (width === 1280) === (scheme === 'light');
      if (!folder && !kept) continue;
      await page.setViewport({ width, height: 800 });
      await prefer(page, scheme);
      await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
      const file = `${picture(name)}-${width}${scheme === 'dark' ? '-dark' : ''}.webp`;
      const options = { type: 'webp', quality: 50, fullPage: true };
      if (folder) await page.screenshot({ ...options, path: join(folder, file) });
      if (kept) await page.screenshot({ ...options, path: join(PICTURES, file) });
    }
  }
}

async function check(page, name) {
  await rules(page, name);
  await keyboard(page, name);
  await pictures(page, name);
}

// The forms that need something in them. A key needs no name.
const EMPTIED = /(?<!keys)\/new$|\/start$|\/caldav$/;

async function crawl(page, base, start, begun = new Set()) {
  const waiting = [start];
  let largest = 0;
  while (waiting.length > 0) {
    const address = waiting.shift();
    const name = kind(base, address);
    if (begun.has(name) || /\/file$|\.ics$/.test(new URL(address, base).pathname)) continue;
    begun.add(name);
    if (begun.size > KINDS_MAX) throw new Error('the pages lead to ever more kinds of pages');
    const answer = await page.goto(new URL(address, base).href, { waitUntil: 'networkidle0' });
    expect(`${address} is ${answer.status()}`, [200, 409].includes(answer.status()));
    largest = Math.max(largest, await size(page, name));
    waiting.push(...await page.$$eval('a[href^="/console"]', (links) => links.map((link) => link.getAttribute('href').split('#')[0])));
    await check(page, name);
    if (EMPTIED.test(name)) {
      const sent = await page.evaluate(() => {
        const form = document.querySelector('main form[method=post]');
        form?.querySelectorAll('input:not([type=hidden]), textarea').forEach((one) => { one.value = ''; });
        if (form) form.noValidate = true;
        return form !== null;
      });
      if (sent) {
        await Promise.all([page.waitForNavigation({ waitUntil: 'networkidle0' }), page.evaluate(() => document.querySelector('main form[method=post]').requestSubmit())]);
        const title = await page.title();
        expect(`${name}: a form with nothing in it leads to ${page.url()}: ${title}`, title.startsWith('Error: '));
        await check(page, `${name}-refused`);
      }
    }
  }
  return largest;
}

run(async (browser) => {
  const folder = process.env.KALENDS_PICTURES;
  if (folder) mkdirSync(folder, { recursive: true });
  if (process.env.KALENDS_RENEW_PICTURES === '1') {
    rmSync(PICTURES, { recursive: true, force: true });
    mkdirSync(PICTURES, { recursive: true });
  }
  const provider = await microsoft();
  const settings = { KALENDS_SIGNUP_PLAN: 'custom', KALENDS_ADMIN_TOKEN: TOKEN, KALENDS_IP_LIMITS: 'off', KALENDS_STANDIN_PROVIDER: 'true' };
  const { base, end } = await serve({ ...settings, ...provider.settings });
  const [kinds, signedOut] = [new Set(), new Set()];
  let largest = 0;
  try {
    await furnish(base);
    // A refused form is an error for the console of the browser.
    const page = await newPage(browser, base, { zone: 'Europe/Berlin', errors: false });
    for (const path of ['/', '/console/sign-in', '/console/sign-up', '/console/forgot', '/console/reset', '/console/invitations', '/console/connect', '/console/plans', '/terms']) {
      if (signedOut.has(path)) continue;
      signedOut.add(path);
      await page.goto(base + path, { waitUntil: 'networkidle0' });
      largest = Math.max(largest, await size(page, path));
      await check(page, `${path}-signed-out`);
    }
    await signIn(page, base);
    largest = Math.max(largest, await crawl(page, base, '/console', kinds));
    largest = Math.max(largest, await crawl(page, base, await connecting(base), kinds));
    await page.goto(`${base}/console/operator`, { waitUntil: 'networkidle0' });
    await check(page, '/console/operator-sign-in');
    if (await page.$('#token')) {
      await tabTo(page, '#token');
      await page.keyboard.type(TOKEN);
      await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
      largest = Math.max(largest, await crawl(page, base, '/console/operator', kinds));
    } else {
      problems.push('the operator cannot sign in');
    }
  } finally {
    end();
    provider.end();
  }
  return `${kinds.size + signedOut.size} kinds of pages, of at most ${largest} bytes`;
});
