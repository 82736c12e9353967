// A person at the page on which a program asks for access: signs in with a password, checks what the page says, chooses
// the agent and the scopes, and decides. The browser then reaches the program's address on this machine, where nothing
// has to listen: the address is what is returned.
//
// As a program, it takes the decision as JSON (see `decide`), and prints that address.
'use strict';

const { expect, problems, rules, run } = require('./browser.cjs');

const SECONDS = 30;

// `asked` is the address that the program opens. `agent` is the name of the agent to choose, and `scopes` are the names
// of those to grant. Without an agent, the person says no.
async function decide(browser, { asked, email, password, agent, scopes = [] }) {
  const parameters = new URL(asked).searchParams;
  const redirect = parameters.get('redirect_uri');
  const { host } = new URL(redirect);
  // Nobody is signed in yet, also if the same person decided before.
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(SECONDS * 1000);
    page.on('console', (message) => message.type() === 'error' && problems.push(`${page.url()}: ${message.text()}`));
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
    await answer(page, redirect);
    await page.goto(asked, { waitUntil: 'networkidle0' });
    expect(`the request leads to ${page.url()}`, new URL(page.url()).pathname === '/console/sign-in');
    await page.type('#email', email);
    await page.type('#password', password);
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(`the sign-in leads to ${page.url()}`, new URL(page.url()).pathname === '/console/authorize');
    const text = await page.$eval('main', (main) => main.innerText);
    expect(`the page does not name ${host}: ${text}`, text.includes(`Connect ${host}?`));
    const chosen = await page.$$eval('input[name=scopes]', (boxes) => boxes.filter((box) => box.checked).length);
    expect('scopes are chosen before the person did', chosen === 0);
    const wanted = (parameters.get('scope') ?? '').split(' ').filter(Boolean);
    const marked = text.split(`Asked for by ${host}`).length - 1;
    expect(`${marked} scopes are marked, not ${wanted}`, marked === wanted.length);
    await rules(page, 'consent');
    if (agent) {
      const texts = (all) => all.map((one) => [one.text.trim(), one.value]);
      const options = await page.$$eval('select[name=agent_id] option', texts);
      const found = options.find(([name]) => name === agent);
      if (!found) throw new Error(`no agent ${agent} in ${options}`);
      await page.select('select[name=agent_id]', found[1]);
      for (const scope of scopes) await page.click(`input[name=scopes][value="${scope}"]`);
    }
    const [arrived] = await Promise.all([
      page.waitForRequest((request) => request.url().startsWith(redirect)),
      page.click(`button[name=decision][value=${agent ? 'approve' : 'deny'}]`),
    ]);
    return arrived.url();
  } finally {
    await context.close();
  }
}

// Answers for the program, whose address has no server.
async function answer(page, redirect) {
  const { origin } = new URL(redirect);
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) return request.continue();
    return request.respond({ status: 200, contentType: 'text/plain', body: 'You can close this window.' });
  });
}

if (require.main === module) {
  run((browser) => decide(browser, JSON.parse(process.argv[2])), (address) => address);
}

module.exports = { decide };
