// Opens pages of the documentation in Chromium, from the real server, and checks them against the rules of axe-core, in
// both colour schemes, at the widths of a phone and a desktop. Then uses the copy buttons and the search.
//
// KALENDS_SERVER names the server's program.
'use strict';

const { expect, newPage, rules, run } = require('./browser.cjs');
const { serve } = require('./server.cjs');

// One page of each kind, and those with the widest tables and the longest code.
const PAGES = [
  '', 'use', 'use/quickstart', 'use/booking', 'use/client', 'run/configure', 'run/troubleshooting',
  'contribute/performance', 'contribute/decisions', 'reference', 'reference/agents', 'reference/events',
  'reference/availability', 'reference/objects', 'reference/objects/Event', 'search?q=hold',
];

async function open(browser, base, name, settings = {}) {
  const page = await newPage(browser, base, settings);
  await page.goto(`${base}/docs/${name}`, { waitUntil: 'networkidle0' });
  return page;
}

async function all(browser, base) {
  for (const name of PAGES) {
    const page = await open(browser, base, name);
    await rules(page, name);
    await page.close();
  }
}

async function withScript(browser, base) {
  const page = await open(browser, base, 'reference/agents');
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
  const page = await open(browser, base, '', { script: false });
  await Promise.all([page.waitForNavigation(), page.click('main a[href="/docs/use/quickstart"]')]);
  expect('a guide is shown', (await page.$eval('h1', (title) => title.textContent)) === 'Quickstart');
  await page.close();
}

run(async (browser) => {
  const { base, end } = await serve();
  try {
    await withScript(browser, base);
    await withoutScript(browser, base);
    await all(browser, base);
  } finally {
    end();
  }
  return `${PAGES.length} pages`;
});
