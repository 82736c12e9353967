// The server in KALENDS_SERVER, and its API as the owner of an organization uses it.
'use strict';

const { spawn } = require('node:child_process');
const { mkdtempSync, rmSync } = require('node:fs');
const { createServer } = require('node:net');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const [EMAIL, PASSWORD] = ['ada@example.com', 'a long enough password'];

// Settings for a free port, so that the addresses in links and metadata lead to the server itself.
async function atItsAddress() {
  const probe = createServer();
  await new Promise((resolve) => { probe.listen(0, '127.0.0.1', resolve); });
  const address = `127.0.0.1:${probe.address().port}`;
  await new Promise((resolve) => { probe.close(resolve); });
  return { KALENDS_LISTEN: address, KALENDS_BASE_URL: `http://${address}` };
}

// Starts the program on an empty folder, unless the settings name another. Returns its address, and a function that
// ends it and resolves when it has ended.
async function serve(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'kalends-pages-'));
  const environment = {
    ...process.env, KALENDS_DATA_DIR: folder, KALENDS_LISTEN: '127.0.0.1:0', KALENDS_LOG: 'error', ...settings,
  };
  const streams = { stdio: ['ignore', 'pipe', 'inherit'] };
  const server = spawn(process.env.KALENDS_SERVER, ['serve'], { env: environment, ...streams });
  const base = await new Promise((resolve, reject) => {
    server.stdout.on('data', (data) => {
      const found = /listening on (\S+)/.exec(data);
      if (found) resolve(found[1]);
    });
    server.on('exit', () => reject(new Error('the server has ended')));
  });
  const end = () => {
    server.removeAllListeners('exit');
    const ended = new Promise((resolve) => { server.once('exit', resolve); });
    server.kill();
    rmSync(folder, { recursive: true, force: true });
    return ended;
  };
  return { base, end };
}

// The API with a token or a key.
function api(base, token) {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} is ${answer.status} ${text}`);
    return text ? JSON.parse(text) : {};
  };
}

// Creates an organization. Returns the API of its owner.
async function signUp(base) {
  const terms = await (await fetch(`${base}/v1/auth/terms/current`)).json();
  const person = { email: EMAIL, password: PASSWORD, name: 'Ada Lovelace', org_name: 'Analytical Engines' };
  await post(base, '/v1/auth/signup', { ...person, tos_version: terms.version });
  return signIn(base);
}

// Returns the API of the owner.
async function signIn(base) {
  const { token } = await post(base, '/v1/auth/signin', { email: EMAIL, password: PASSWORD });
  return api(base, token);
}

async function post(base, path, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} is ${answer.status} ${await answer.text()}`);
  return answer.json();
}

module.exports = { api, atItsAddress, serve, signIn, signUp, EMAIL, PASSWORD };
