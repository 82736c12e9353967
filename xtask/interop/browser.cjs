// What the checks of pages have in common: Chromium, the rules of axe-core in both colour schemes at the widths of a phone
// and a desktop, and the list of what was found.
'use strict';

const { readFileSync, existsSync } = require('node:fs');
const { delimiter, join } = require('node:path');
const puppeteer = require('puppeteer-core');

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WIDTHS = [390, 1280];
const SCHEMES = ['light', 'dark'];
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const problems = [];
function expect(what, holds) {
  if (!holds) problems.push(what);
}

function program() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (!found) throw new Error('no Chromium found (Debian\'s package is `chromium-headless-shell`)');
  return found;
}

// All content comes from servers on this machine, so the sandbox, which root cannot use, would not protect anything.
function launch() {
  return puppeteer.launch({ executablePath: program(), args: ['--no-sandbox', '--disable-gpu'] });
}

// A page that may not fail, write errors, or load anything from another origin than `base`.
async function newPage(browser, base, settings = {}) {
  const page = await browser.newPage();
  page.on('console', (message) => message.type() === 'error' && settings.errors !== false && problems.push(`${page.url()}: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => expect(`${page.url()} loads ${request.url()}`, /^(data|blob):/.test(request.url()) || request.url().startsWith(base)));
  await page.setViewport({ width: 1280, height: 900 });
  if (settings.zone) await page.emulateTimezone(settings.zone);
  if (settings.script === false) await page.setJavaScriptEnabled(false);
  return page;
}

// Without motion, because colours in a transition between schemes do not count.
function prefer(page, scheme) {
  const still = { name: 'prefers-reduced-motion', value: 'reduce' };
  return page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }, still]);
}

// Checks the open page against the rules, and that it is not too wide. `also` gets each width.
async function rules(page, name, also = async () => {}) {
  // The checker itself is not bound by the page's policy.
  await page.evaluate(axe);
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: 900 });
    for (const scheme of SCHEMES) {
      await prefer(page, scheme);
      const found = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly }), RULES);
      for (const { id, impact, help, nodes } of found.violations) {
        const where = nodes.map((node) => node.html).slice(0, 3).join(' ');
        problems.push(`${name} ${width} ${scheme}: ${impact} ${id}: ${help}: ${where}`);
      }
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(`${name} ${width}: ${wide} pixels too wide`, wide <= 0);
    await also(width);
  }
}

// Runs the check, prints what was found, and ends the program. `say` makes the last line of what the check returns.
async function report(check, say) {
  const browser = await launch();
  let done;
  try {
    done = await check(browser);
  } finally {
    await browser.close();
  }
  for (const problem of new Set(problems)) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log(say(done));
}

function run(check, say = (done) => `${done}, nothing found`) {
  report(check, say).catch((error) => { console.error(error); process.exit(1); });
}

module.exports = { expect, newPage, prefer, problems, rules, run, SCHEMES, WIDTHS };
