// Opens pages of the documentation in Chromium, from the real server, and checks them against the rules of axe-core, in
// both colour schemes, at the widths of a phone and a desktop. Then uses the copy buttons and the search.
//
// KALENDS_SERVER names the server's program.
'use strict';

const { spawn } = require('node:child_process');
const { mkdtempSync, readFileSync, existsSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { delimiter, join } = require('node:path');
const puppeteer = require('puppeteer-core');

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WIDTHS = [390, 1280];
const SCHEMES = ['light', 'dark'];
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
// One page of each kind, and those with the widest tables and the longest code.
const PAGES = [
  '', 'use', 'use/quickstart', 'use/booking', 'use/client', 'run/configure', 'run/troubleshooting',
  'contribute/performance', 'contribute/decisions', 'reference', 'reference/agents', 'reference/events',
  'reference/availability', 'reference/objects', 'reference/objects/Event', 'search?q=hold',
];

function program() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (!found) throw new Error('no Chromium found (Debian\'s package is `chromium`)');
  return found;
}

const problems = [];
function expect(what, holds) {
  if (!holds) problems.push(what);
}

function start(folder) {
  const environment = { ...process.env, KALENDS_DATA_DIR: folder, KALENDS_LISTEN: '127.0.0.1:0', KALENDS_LOG: 'error' };
  const server = spawn(process.env.KALENDS_SERVER, ['serve'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const address = new Promise((resolve, reject) => {
    server.stdout.on('data', (data) => {
      const found = /listening on (\S+)/.exec(data);
      if (found) resolve(found[1]);
    });
    server.on('exit', () => reject(new Error('the server has ended')));
  });
  return { server, address };
}

async function open(browser, address, settings = {}) {
  const page = await browser.newPage();
  page.on('console', (message) => message.type() === 'error' && problems.push(`${address}: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`${address}: ${error.message}`));
  page.on('request', (request) => expect(`${address} loads ${request.url()}`, request.url().startsWith(new URL(address).origin)));
  await page.setViewport({ width: 1280, height: 900 });
  if (settings.script === false) await page.setJavaScriptEnabled(false);
  await page.goto(address, { waitUntil: 'networkidle0' });
  return page;
}

async function rules(browser, base) {
  for (const name of PAGES) {
    const page = await open(browser, `${base}/docs/${name}`);
    // The checker itself is not bound by the page's policy.
    await page.evaluate(axe);
    for (const width of WIDTHS) {
      await page.setViewport({ width, height: 900 });
      for (const scheme of SCHEMES) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        const found = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly }), RULES);
        for (const { id, impact, help, nodes } of found.violations) {
          const where = nodes.map((node) => node.html).slice(0, 3).join(' ');
          problems.push(`${name} ${width} ${scheme}: ${impact} ${id}: ${help}: ${where}`);
        }
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(`${name} ${width}: ${wide} pixels too wide`, wide <= 0);
    }
    await page.close();
  }
}

async function withScript(browser, base) {
  const page = await open(browser, `${base}/docs/reference/agents`);
  const count = (selector) => page.$$eval(selector, (all) => all.length);
  expect('every block of code has a button', await count('.copy') === await count('pre'));
  await page.click('details[data-language=python] summary');
  const opened = () => page.$$eval('details.sample[open]', (all) => all.map((one) => one.dataset.language));
  expect('one language is shown everywhere', (await opened()).every((language) => language === 'python'));
  await page.goto(`${base}/docs/reference/calendars`, { waitUntil: 'networkidle0' });
  expect('the language is kept', (await opened()).every((language) => language === 'python'));
  await page.type('#q', 'quickstart postgres');
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  await page.waitForSelector('#results li');
  const first = await page.$eval('#results li a', (link) => link.getAttribute('href'));
  expect(`the search finds a guide, not ${first}`, first.startsWith('/docs/use/quickstart#'));
  expect('the number is announced', /\d+ places/.test(await page.$eval('#found', (found) => found.textContent)));
  await page.$eval('#q', (field) => { field.value = ''; });
  await page.type('#q', 'createEvent');
  await page.waitForFunction(() => /\/reference\/.*createEvent$/i.test(document.querySelector('#results a')?.href));
  await page.close();
}

async function withoutScript(browser, base) {
  const page = await open(browser, `${base}/docs/`, { script: false });
  await Promise.all([page.waitForNavigation(), page.click('main a[href="/docs/use/quickstart"]')]);
  expect('a guide is shown', (await page.$eval('h1', (title) => title.textContent)) === 'Quickstart');
  await page.close();
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'kalends-docs-'));
  const { server, address } = start(folder);
  // All content comes from the server above, so the sandbox, which root cannot use, would not protect anything.
  const browser = await puppeteer.launch({ executablePath: program(), args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const base = await address;
    await withScript(browser, base);
    await withoutScript(browser, base);
    await rules(browser, base);
  } finally {
    await browser.close();
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  for (const problem of new Set(problems)) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log(`${PAGES.length} pages, nothing found`);
}

main().catch((error) => { console.error(error); process.exit(1); });
