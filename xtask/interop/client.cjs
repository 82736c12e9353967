// A client with types that openapi-typescript generates from the description: it must compile and do a round trip.
//
// Starts the server in KALENDS_SERVER on an empty database. The argument is the API description. The client is
// generated next to it.
'use strict';

const { execFileSync, spawn } = require('node:child_process');
const { copyFileSync, mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { dirname, join } = require('node:path');

const description = process.argv[2];
const folder = dirname(description);
const run = (program, ...args) => {
  try {
    execFileSync(join(folder, 'node_modules/.bin', program), args, { cwd: folder, stdio: 'pipe' });
  } catch (error) {
    throw new Error(`${program}: ${error.stdout}${error.stderr}`);
  }
};

run('openapi-typescript', description, '-o', join(folder, 'schema.d.ts'));
copyFileSync(join(__dirname, 'client.mts'), join(folder, 'client.mts'));
run('tsc', '--strict', '--target', 'es2022', '--module', 'nodenext', 'client.mts');

const data = mkdtempSync(join(tmpdir(), 'kalends-'));
const program = process.env.KALENDS_SERVER;
const env = { ...process.env, KALENDS_DATA_DIR: join(data, 'data'), KALENDS_LISTEN: '127.0.0.1:0' };
const server = spawn(program, { env, stdio: ['ignore', 'pipe', 'ignore'] });
server.stdout.once('data', (line) => {
  try {
    const url = String(line).match(/listening on (\S+)/)[1];
    const made = execFileSync(program, ['org', 'create', '--name', 'Interop', '--plan', 'pro'], { env });
    const key = JSON.parse(made).api_key;
    execFileSync(process.execPath, [join(folder, 'client.mjs'), url, key], { stdio: 'inherit' });
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    server.once('exit', () => rmSync(data, { recursive: true }));
    server.kill();
  }
});
