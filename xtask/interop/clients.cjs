// The TypeScript client in `clients/typescript`: it must compile, its own tests must pass, and then a server is used.
//
// Starts the server in KALENDS_SERVER on an empty database. The argument is the API description; the client is compiled
// next to it.
'use strict';

const { execFileSync, spawn } = require('node:child_process');
const { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync } = require('node:fs');
const { readdirSync, rmSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { tmpdir } = require('node:os');
const { dirname, join } = require('node:path');

// Requests per second of the slow organization.
const SLOW = 2;
const client = join(__dirname, '../../clients/typescript');
const folder = dirname(process.argv[2]);
const built = join(folder, 'built');
const run = (program, ...args) => {
  try {
    execFileSync(program, args, { cwd: built, stdio: 'pipe' });
  } catch (error) {
    throw new Error(`${program} ${args.join(' ')}: ${error.stdout}${error.stderr}`);
  }
};
const tsc = join(folder, 'node_modules/.bin/tsc');

rmSync(built, { recursive: true, force: true });
mkdirSync(built);
writeFileSync(join(built, 'package.json'), '{ "type": "module" }');
run(tsc, '--project', client, '--outDir', join(built, 'dist'));
cpSync(join(client, 'test'), join(built, 'test'), { recursive: true });
run(process.execPath, '--test', ...readdirSync(join(built, 'test')).map((name) => join('test', name)));
copyFileSync(join(__dirname, 'clients.mts'), join(built, 'clients.mts'));
// The example of the README.
const [, example] = /```typescript\n([^]*?)```/.exec(readFileSync(join(client, 'README.md'), 'utf8'));
writeFileSync(join(built, 'readme.mts'), example.replace("'kalends'", "'./dist/index.js'"));
run(tsc, '--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck', 'clients.mts', 'readme.mts');

// A free port for the receiver of messages.
const probe = createServer().listen(0, '127.0.0.1', () => {
  const { port } = probe.address();
  probe.close(() => use(port));
});

function use(port) {
  const data = mkdtempSync(join(tmpdir(), 'kalends-'));
  const program = process.env.KALENDS_SERVER;
  const settings = { KALENDS_LISTEN: '127.0.0.1:0', KALENDS_EGRESS_ALLOW: `127.0.0.1:${port}` };
  const env = { ...process.env, KALENDS_DATA_DIR: join(data, 'data'), ...settings };
  const server = spawn(program, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const organization = (rate) => {
    const limits = JSON.stringify({ rate_per_second: rate });
    const args = ['org', 'create', '--name', 'Interop', '--plan', 'custom', '--limits', limits];
    return JSON.parse(execFileSync(program, args, { env })).api_key;
  };
  server.stdout.once('data', (line) => {
    try {
      const url = String(line).match(/listening on (\S+)/)[1];
      const keys = [organization(1_000_000), organization(SLOW)];
      const args = [join(built, 'clients.mjs'), url, ...keys, String(port)];
      execFileSync(process.execPath, args, { stdio: 'inherit' });
      const caller = { ...env, KALENDS_URL: url, KALENDS_KEY: keys[0] };
      const printed = execFileSync(process.execPath, [join(built, 'readme.mjs')], { env: caller, encoding: 'utf8' });
      if (!printed.startsWith('Standup 2099-03-02')) throw new Error(`the README printed ${printed}`);
    } catch (error) {
      console.error(error.message);
      process.exitCode = 1;
    } finally {
      server.once('exit', () => rmSync(data, { recursive: true }));
      server.kill();
    }
  });
}
