// Uses the tools with the official SDKs for TypeScript: the one that most clients contain, and its successor with the
// protocol before and since 2026-07-28. Each works with a key, and as a connector: a person denies it in Chromium, then
// approves it, its access token expires, and its access is revoked.
//
// Starts the server in KALENDS_SERVER on an empty database.
'use strict';

const assert = require('node:assert/strict');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const current = require('@modelcontextprotocol/client');
const { run } = require('./browser.cjs');
const { decide } = require('./consent.cjs');
const { atItsAddress, serve, signIn, signUp, EMAIL, PASSWORD } = require('./server.cjs');

const former = ['auth', 'index', 'streamableHttp'].map((part) => require(`@modelcontextprotocol/sdk/client/${part}.js`));
const AGENT = 'Scout';
// Nothing listens there.
const REDIRECT = 'http://127.0.0.1:33418/callback';
// A little longer than an access token is accepted.
const EXPIRY_SECONDS = 3660;
const SDKS = [
  {
    name: 'the former SDK',
    version: '2025-11-25',
    library: Object.assign({}, ...former),
    finish: (transport, answer) => transport.finishAuth(answer.get('code')),
  },
  ...[['legacy', '2025-11-25'], [{ pin: '2026-07-28' }, '2026-07-28']].map(([mode, version]) => ({
    name: `the SDK with ${version}`,
    version,
    library: current,
    options: { versionNegotiation: { mode } },
    finish: (transport, answer) => transport.finishAuth(answer),
  })),
];

function newClient({ library, options }) {
  return new library.Client({ name: 'interop', version: '1' }, options);
}

function newTransport({ library }, url, settings) {
  return new library.StreamableHTTPClientTransport(url, settings);
}

// The requests of one client, as METHOD PATH.
class Requests {
  #sent = [];

  fetch = async (input, init) => {
    const answer = await fetch(input, init);
    this.#sent.push(`${init?.method ?? 'GET'} ${new URL(input.url ?? input).pathname} ${answer.status}`);
    return answer;
  };

  // Those since the last call, apart from successful messages.
  take() {
    const taken = this.#sent.filter((request) => !/^(POST \/mcp 20.|GET \/mcp 405)$/.test(request));
    this.#sent = [];
    return taken;
  }
}

// What a program keeps. It learns the address that it should open in a browser.
class Connector {
  redirectUrl = REDIRECT;
  clientMetadata = { client_name: 'Interop', redirect_uris: [REDIRECT] };
  #kept = {};

  state() { return this.#kept.state = crypto.randomUUID(); }
  clientInformation() { return this.#kept.client; }
  saveClientInformation(client) { this.#kept.client = client; }
  tokens() { return this.#kept.tokens; }
  saveTokens(tokens) { this.#kept.tokens = tokens; }
  codeVerifier() { return this.#kept.verifier; }
  saveCodeVerifier(verifier) { this.#kept.verifier = verifier; }
  redirectToAuthorization(address) { this.#kept.asked = address; }
  discoveryState() { return this.#kept.discovery; }
  saveDiscoveryState(discovery) { this.#kept.discovery = discovery; }

  invalidateCredentials(scope) {
    const names = scope === 'all' ? ['client', 'tokens', 'verifier', 'discovery'] : [scope];
    for (const name of names) delete this.#kept[name];
  }

  // The address to open, with what the person and the page need to know.
  asked(base) {
    const asked = this.#kept.asked;
    delete this.#kept.asked;
    assert.ok(asked, 'nobody is asked');
    const { searchParams } = asked;
    assert.equal(searchParams.get('code_challenge_method'), 'S256');
    assert.equal(searchParams.get('resource'), `${base}/mcp`);
    assert.equal(searchParams.get('scope'), 'freebusy:org directory:org holds:org');
    return asked.href;
  }

  // The answer of the page.
  answer(address, base) {
    const { searchParams } = new URL(address);
    assert.equal(searchParams.get('state'), this.#kept.state);
    assert.equal(searchParams.get('iss'), base);
    return searchParams;
  }
}

async function all(list, name) {
  const [found, cursors] = [[], new Set()];
  let cursor;
  do {
    const page = await list({ cursor });
    found.push(...page[name]);
    cursor = page.nextCursor;
    assert.ok(!cursors.has(cursor), `the cursor ${cursor} is repeated`);
    cursors.add(cursor);
  } while (cursor);
  return found;
}

async function call(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
  return JSON.parse(result.content[0].text);
}

// Finds a time, takes it, and finds it no more.
async function schedules(client, day) {
  const window = { earliest: `${day}T08:00:00Z`, latest: `${day}T10:00:00Z`, duration_minutes: 60 };
  const [{ start }] = (await call(client, 'find_times', window)).times;
  const event = await call(client, 'create_event', { title: `On ${day}`, start, duration_minutes: 60 });
  assert.equal(event.start, start);
  const left = (await call(client, 'find_times', window)).times.map((time) => time.start);
  assert.ok(!left.includes(start), `${start} is free`);
  const unknown = { event_id: 'evt_00000000000000000000000000' };
  const refused = await client.callTool({ name: 'get_event', arguments: unknown });
  assert.equal(JSON.parse(refused.content[0].text).error.type, 'not_found');
}

// Everything that a client shows, and a little work.
async function works(sdk, client, day, agent) {
  assert.equal(client.getServerVersion().name, 'kalends');
  assert.equal(client.getNegotiatedProtocolVersion?.() ?? client.transport.protocolVersion, sdk.version);
  const tools = await all((params) => client.listTools(params), 'tools');
  assert.equal(tools.length, 20);
  assert.ok(tools.every((tool) => tool.annotations.title ?? tool.title), 'a tool has no title');
  assert.equal((await call(client, 'whoami')).agent.agent_id, agent);
  await schedules(client, day);
  const resources = await all((params) => client.listResources(params), 'resources');
  const uri = `kalends://agents/${agent}/context`;
  assert.ok(resources.some((resource) => resource.uri === uri), uri);
  const [contents] = (await client.readResource({ uri })).contents;
  assert.equal(JSON.parse(contents.text).calendars.length, 1);
  const prompts = await all((params) => client.listPrompts(params), 'prompts');
  assert.ok(prompts.some((prompt) => prompt.name === 'reschedule'));
  const { messages } = await client.getPrompt({ name: 'reschedule', arguments: { what: 'Interop', to: 'tomorrow' } });
  assert.match(messages[0].content.text, /`update_event`/);
}

// A server that can begin again with a clock that is ahead.
class Running {
  #folder = mkdtempSync(join(tmpdir(), 'kalends-tools-'));
  #ahead = 0;

  async begin() {
    const own = { KALENDS_DATA_DIR: join(this.#folder, 'data'), KALENDS_SIGNUP_PLAN: 'pro' };
    this.settings ??= { ...await atItsAddress(), ...own };
    const offset = { KALENDS_CLOCK_OFFSET_SECONDS: String(this.#ahead) };
    ({ base: this.base, end: this.stop } = await serve({ ...this.settings, ...offset }));
  }

  async later(seconds) {
    await this.stop();
    this.#ahead += seconds;
    await this.begin();
  }

  async end() {
    await this.stop();
    rmSync(this.#folder, { recursive: true });
  }
}

async function withKey(sdk, url, key, day, agent) {
  const requests = new Requests();
  const headers = { authorization: `Bearer ${key}` };
  const client = newClient(sdk);
  await client.connect(newTransport(sdk, url, { requestInit: { headers }, fetch: requests.fetch }));
  await works(sdk, client, day, agent);
  await client.close();
  assert.deepEqual(requests.take(), []);
}

async function asConnector(sdk, browser, running, day, agent) {
  const url = new URL(`${running.base}/mcp`);
  const [connector, requests] = [new Connector(), new Requests()];
  const open = () => newTransport(sdk, url, { authProvider: connector, fetch: requests.fetch });
  const person = (choice) => decide(browser, {
    asked: connector.asked(running.base), email: EMAIL, password: PASSWORD, ...choice,
  });
  const discovery = ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server'];
  const discovered = discovery.map((path) => `GET ${path} 200`);

  // The person says no, and is asked again.
  await assert.rejects(newClient(sdk).connect(open()), sdk.library.UnauthorizedError);
  assert.deepEqual(requests.take(), ['POST /mcp 401', ...discovered, 'POST /oauth/register 201']);
  assert.equal(connector.answer(await person({}), running.base).get('error'), 'access_denied');
  const first = open();
  await assert.rejects(newClient(sdk).connect(first), sdk.library.UnauthorizedError);
  const approved = await person({ agent: AGENT, scopes: ['freebusy:org'] });
  await sdk.finish(first, connector.answer(approved, running.base));
  assert.equal(connector.tokens().scope, 'freebusy:org');
  requests.take();

  const client = newClient(sdk);
  await client.connect(open());
  await works(sdk, client, day, agent);
  assert.deepEqual((await call(client, 'whoami')).scopes, ['freebusy:org']);
  assert.deepEqual(requests.take(), []);

  // The access token expires. Nobody has to be asked.
  const expired = connector.tokens();
  await running.later(EXPIRY_SECONDS);
  assert.equal((await call(client, 'whoami')).agent.agent_id, agent);
  const posted = requests.take().filter((request) => request.startsWith('POST'));
  assert.deepEqual(posted, ['POST /mcp 401', 'POST /oauth/token 200']);
  assert.notEqual(connector.tokens().access_token, expired.access_token);
  assert.notEqual(connector.tokens().refresh_token, expired.refresh_token);

  // The access is revoked. The person is asked again.
  const owner = await signIn(running.base);
  const keys = (await owner('GET', '/v1/keys')).keys.filter((key) => key.label === 'Interop');
  assert.equal(keys.length, 1);
  await owner('DELETE', `/v1/keys/${keys[0].id}`);
  await assert.rejects(call(client, 'whoami'), sdk.library.UnauthorizedError);
  const second = open();
  await sdk.finish(second, connector.answer(await person({ agent: AGENT }), running.base));
  assert.equal(connector.tokens().scope, '');
  const again = newClient(sdk);
  await again.connect(open());
  assert.equal((await call(again, 'whoami')).agent.agent_id, agent);
  const [kept] = (await owner('GET', '/v1/keys')).keys.filter((key) => key.label === 'Interop');
  await owner('DELETE', `/v1/keys/${kept.id}`);
  await Promise.all([client.close(), again.close()]);
}

run(async (browser) => {
  const running = new Running();
  await running.begin();
  try {
    const owner = await signUp(running.base);
    const { id } = await owner('POST', '/v1/agents', { name: AGENT, type: 'ai' });
    await owner('POST', '/v1/agents', { name: 'Another', type: 'ai' });
    await owner('POST', `/v1/agents/${id}/calendars`, { name: 'Work', timezone: 'Europe/Berlin' });
    const { key } = await owner('POST', '/v1/keys', { agent_id: id });
    for (const [index, sdk] of SDKS.entries()) {
      const step = async (what, work) => {
        await work.catch((cause) => { throw new Error(`${sdk.name}, ${what}`, { cause }); });
      };
      await step('with a key', withKey(sdk, new URL(`${running.base}/mcp`), key, `2031-03-0${index + 1}`, id));
      await step('as a connector', asConnector(sdk, browser, running, `2031-04-0${index + 1}`, id));
    }
  } finally {
    await running.end();
  }
  return `${SDKS.map((sdk) => sdk.name).join(', ')}: used with a key, approved, refreshed, revoked and approved again`;
});
