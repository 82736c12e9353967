// Opens every state of the booking page in Chromium with its own headers, and checks it against the rules of axe-core,
// in both colour schemes, at the widths of a phone and a desktop. Then uses the picker with and without its script.
//
// The argument is the output file of the example `gallery` of kalends-web. With `KALENDS_RENEW_PICTURES=1`, it takes the
// pictures of the documentation again.
'use strict';

const { readFileSync, readdirSync } = require('node:fs');
const { createServer } = require('node:http');
const { join } = require('node:path');
const { expect, newPage, prefer, rules, run } = require('./browser.cjs');

const gallery = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const TYPES = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml', html: 'text/html; charset=utf-8', md: 'text/markdown' };
const PICTURES = join(__dirname, '../../docs/use/booking');

// The pages by their names, and the picker in two zones below `/book/`.
function answer(request, response) {
  const url = new URL(request.url, 'http://localhost');
  const zone = url.searchParams.get('tz');
  const picker = zone === 'America/New_York' ? '/picker-elsewhere.html' : '/picker.html';
  const path = url.pathname === '/book/kq7dm2x9' ? (url.searchParams.has('slot') ? '/form.html' : picker) : url.pathname;
  const text = gallery.files[path];
  if (text === undefined) return response.writeHead(404).end();
  const policy = gallery.policies[path];
  const headers = policy ? { ...gallery.headers, 'content-security-policy': policy } : gallery.headers;
  response.writeHead(200, { ...headers, 'content-type': TYPES[path.split('.').pop()] }).end(text);
}

async function open(browser, base, path, settings = {}) {
  const page = await newPage(browser, base, { zone: 'Europe/Berlin', ...settings });
  await page.goto(`${base}${path}`, { waitUntil: 'networkidle0' });
  return page;
}

const names = Object.keys(gallery.files).filter((name) => name.endsWith('.html'));

async function all(browser, base) {
  for (const name of names) {
    // With a zone in the address, the script does not request another one.
    const page = await open(browser, base, `${name}?tz=x`);
    await rules(page, name, async (width) => {
      const low = await page.evaluate(() => [...document.querySelectorAll('button, input, select, textarea, .day[href], .time, .step')]
        .filter((one) => one.type !== 'hidden' && !one.hidden && !one.closest('.trap'))
        // The label of a box is part of its target.
        .filter((one) => (one.type === 'checkbox' ? one.closest('label') : one).getBoundingClientRect().height < 43.9)
        .map((one) => one.outerHTML.slice(0, 80)));
      expect(`${name} ${width}: lower than 44 pixels: ${low.join(' ')}`, low.length === 0);
    });
    await page.close();
  }
}

async function withScript(browser, base) {
  const page = await open(browser, base, '/book/kq7dm2x9', { zone: 'America/New_York' });
  expect('the visitor\'s zone is requested', page.url().endsWith('?tz=America%2FNew_York'));
  const text = () => page.$eval('main', (main) => main.textContent);
  expect('the visitor\'s times are shown', (await text()).includes('4:30'));
  expect('the zone is announced', (await page.$eval('#said', (said) => said.textContent)).includes('New York'));
  await page.evaluate(() => { globalThis.mark = true; });
  const settled = () => page.waitForFunction(() => !document.querySelector('main').hasAttribute('aria-busy'));
  await page.click('#own-zone');
  await page.waitForFunction(() => document.querySelector('main').dataset.zone === 'Europe/Berlin');
  expect('the host\'s times are shown', (await text()).includes('09:30'));
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('main').dataset.zone === 'America/New_York');
  await page.focus('.day[href]');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement.id === 'day');
  await settled();
  expect('the day is announced', (await page.$eval('#said', (said) => said.textContent)).includes('free times'));
  await page.focus('#later');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.search.includes('month='));
  await settled();
  expect('the focus stays on the months', await page.evaluate(() => document.activeElement.id === 'later'));
  await page.select('#tz', 'Europe/Berlin');
  await page.click('#switch');
  await page.waitForFunction(() => document.querySelector('main').dataset.zone === 'Europe/Berlin');
  expect('no page was reloaded', await page.evaluate(() => globalThis.mark === true));
  await page.close();
}

async function withoutScript(browser, base) {
  const page = await open(browser, base, '/book/kq7dm2x9', { script: false });
  const follow = (selector) => Promise.all([page.waitForNavigation(), page.click(selector)]);
  await follow('.day[href]');
  expect('a day links to its times', new URL(page.url()).searchParams.has('day'));
  await follow('#later');
  expect('a month has a link', new URL(page.url()).searchParams.has('month'));
  await page.select('#tz', 'America/New_York');
  await follow('#switch');
  expect('the zone is chosen with a form', new URL(page.url()).searchParams.get('tz') === 'America/New_York');
  await follow('.time');
  expect('a time links to the form', (await page.$('#email')) !== null);
  await page.close();
}

// Takes each picture of the folder again: its name is the page's, with `dark` and the width.
async function pictures(browser, base) {
  for (const file of readdirSync(PICTURES).filter((name) => name.endsWith('.png'))) {
    const [, name, dark, width] = file.match(/^(.*?)(-dark)?-(\d+)\.png$/);
    const page = await open(browser, base, `/${name}.html?tz=x`);
    await page.setViewport({ width: Number(width), height: 200 });
    await prefer(page, dark ? 'dark' : 'light');
    await page.screenshot({ path: join(PICTURES, file), fullPage: true });
    await page.close();
  }
}

run(async (browser) => {
  const server = createServer(answer);
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const base = `http://127.0.0.1:${server.address().port}`;
  try {
    await withScript(browser, base);
    await withoutScript(browser, base);
    await all(browser, base);
    if (process.env.KALENDS_RENEW_PICTURES === '1') await pictures(browser, base);
  } finally {
    server.close();
  }
  return `${names.length} pages`;
});
