// Uses the tools with the official inspector on the command line, with the protocol before and since 2026-07-28: with a
// key of an agent, and as a connector that a person approves in Chromium. The inspector finds nothing wrong with the
// schemas of the tools for models, and writes no warnings.
//
// Starts the server in KALENDS_SERVER on an empty database.
'use strict';

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { run } = require('./browser.cjs');
const { decide } = require('./consent.cjs');
const { atItsAddress, serve, signUp, EMAIL, PASSWORD } = require('./server.cjs');

const PROGRAM = join(process.env.NODE_PATH, '.bin/mcp-inspector');
const ERAS = ['legacy', 'modern'];
const AGENT = 'Scout';
// All operations keep the types of the API, where null is often a value. These are the only findings.
const TYPES = '`type` is an array';
// The exit code if a person would have to be asked.
const AUTH_REQUIRED = 3;
// No window is opened; tokens are kept in a file.
const SETTINGS = {
  BROWSER: 'true', DISPLAY: '', WAYLAND_DISPLAY: '', XDG_CURRENT_DESKTOP: '',
  MCP_INSPECTOR_SECRET_STORE: 'file', MCP_INSPECTOR_SECRET_KEY: 'a key of nothing that lasts',
};

// The inspector with its files in a folder of its own in `homes`, for the tools of one server.
class Inspector {
  #home;

  constructor(homes, url) {
    this.#home = mkdtempSync(join(homes, 'home-'));
    this.url = url;
  }

  // Resolves with the exit code and what the inspector printed. `opens` gets each address that it asks people to open.
  // Without it, nobody is asked.
  run(args, opens) {
    const asks = { MCP_AUTO_OPEN_ENABLED: String(opens !== undefined) };
    const environment = { ...process.env, ...SETTINGS, ...asks, HOME: this.#home };
    const given = [PROGRAM, '--cli', this.url, '--format', 'json', ...args];
    const streams = { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 };
    const inspector = spawn(process.execPath, given, { env: environment, ...streams });
    const printed = { output: '', errors: '' };
    inspector.stdout.setEncoding('utf8').on('data', (text) => { printed.output += text; });
    return new Promise((resolve, reject) => {
      inspector.stderr.setEncoding('utf8').on('data', (text) => {
        printed.errors += text.replace(/^Please navigate to: (\S+)\n/m, (_, address) => {
          Promise.resolve().then(() => opens(address)).catch((error) => { inspector.kill(); reject(error); });
          return '';
        }).replace('Authorization complete.\n', '');
      });
      inspector.on('error', reject);
      inspector.on('close', (code) => resolve({ code, ...printed }));
    });
  }

  // The result of a method, without a warning.
  async result(args, opens) {
    const { code, output, errors } = await this.run(args, opens);
    assert.ok(code === 0 && errors.trim() === '', `${args.join(' ')}: ${code} ${output.slice(0, 1000)} ${errors}`);
    const printed = JSON.parse(output);
    return printed.result ?? printed;
  }
}

// `how` are the arguments with which the inspector gets access.
async function works(inspector, how, agent, title) {
  const result = (method, ...more) => inspector.result([...how, '--method', method, ...more]);
  const call = async (name, args = {}) => {
    const sent = ['--tool-name', name, '--tool-args-json', JSON.stringify(args)];
    const { content, isError } = await result('tools/call', ...sent);
    assert.ok(!isError, `${name}: ${JSON.stringify(content)}`);
    return JSON.parse(content[0].text);
  };
  assert.equal((await call('whoami')).agent.agent_id, agent);
  const { times } = await call('find_times', { duration_minutes: 60, earliest: '2031-03-03T08:00:00Z' });
  const event = await call('create_event', { title, start: times[0].start, duration_minutes: 60 });
  assert.equal(event.start, times[0].start);
  const { resources } = await result('resources/list');
  const uri = `kalends://agents/${agent}/context`;
  assert.ok(resources.some((resource) => resource.uri === uri), uri);
  const [contents] = (await result('resources/read', '--uri', uri)).contents;
  assert.equal(JSON.parse(contents.text).calendars.length, 1);
  assert.equal((await result('resources/templates/list')).resourceTemplates.length, 3);
  const { prompts } = await result('prompts/list');
  assert.ok(prompts.some((prompt) => prompt.name === 'reschedule'));
  const given = ['--prompt-args', 'what=Interop', 'to=tomorrow'];
  const { messages } = await result('prompts/get', '--prompt-name', 'reschedule', ...given);
  assert.match(messages[0].content.text, /`update_event`/);
  return (await result('tools/list', '--strict')).tools;
}

// Lists all operations. Returns how many there are.
async function operations(homes, base, key) {
  const inspector = new Inspector(homes, `${base}/mcp?tools=all`);
  const { code, output, errors } = await inspector.run([...key, '--method', 'tools/list', '--strict']);
  const issues = errors.split('\n').filter((line) => line.startsWith('  Issue: '));
  const others = issues.filter((line) => !line.startsWith(`  Issue: ${TYPES}`));
  assert.ok(code === 0 && others.length === 0, `${code} ${others.join('\n')} ${errors.slice(0, 1000)}`);
  const printed = JSON.parse(output);
  return (printed.result ?? printed).tools.length;
}

// Revokes what a person approved.
async function revoke(owner) {
  const approved = (await owner('GET', '/v1/keys')).keys.filter((key) => key.label === 'MCP Inspector');
  assert.equal(approved.length, 1);
  await owner('DELETE', `/v1/keys/${approved[0].id}`);
}

// A person approves the access. Later calls ask nobody, until the owner revokes it. Then a person is asked again.
async function asConnector(browser, inspector, owner, agent, era, tools) {
  const callback = Object.values(await atItsAddress())[1];
  const how = ['--protocol-era', era, '--callback-url', `${callback}/oauth/callback`];
  const approves = async (asked) => {
    const address = await decide(browser, { asked, email: EMAIL, password: PASSWORD, agent: AGENT });
    await (await fetch(address)).text();
  };
  const lists = [...how, '--method', 'tools/list', '--strict'];
  assert.deepEqual((await inspector.result(lists, approves)).tools, tools);
  await works(inspector, how, agent, `A connector, ${era}`);
  await revoke(owner);
  assert.equal((await inspector.run(lists)).code, AUTH_REQUIRED);
  assert.deepEqual((await inspector.result(lists, approves)).tools, tools);
  await revoke(owner);
}

run(async (browser) => {
  const homes = mkdtempSync(join(tmpdir(), 'kalends-inspector-'));
  const { base, end } = await serve({ ...await atItsAddress(), KALENDS_SIGNUP_PLAN: 'pro' });
  try {
    const owner = await signUp(base);
    const { id } = await owner('POST', '/v1/agents', { name: AGENT, type: 'ai' });
    await owner('POST', `/v1/agents/${id}/calendars`, { name: 'Work', timezone: 'Europe/Berlin' });
    const { key } = await owner('POST', '/v1/keys', { agent_id: id });
    const header = ['--header', `Authorization: Bearer ${key}`];
    for (const era of ERAS) {
      const [first, second] = [1, 2].map(() => new Inspector(homes, `${base}/mcp`));
      const tools = await works(first, [...header, '--protocol-era', era], id, `A key, ${era}`);
      assert.equal(tools.length, 20);
      await asConnector(browser, second, owner, id, era, tools);
    }
    return `20 tools for models and ${await operations(homes, base, header)} operations`;
  } finally {
    await end();
    rmSync(homes, { recursive: true });
  }
});
