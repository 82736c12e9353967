// A caller's code with the TypeScript client. The arguments are the server's address, a key, the key of a slow
// organization, and a port on which messages may be received.

import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';

import {
  ApiError,
  type CreateEvent,
  done,
  idempotencyKey,
  Kalends,
  verify,
  WebhookError,
} from './dist/index.js';

const EVENTS = 120;
const [baseUrl, key, slowKey, port] = process.argv.slice(2) as [string, string, string, string];
const kalends = new Kalends(key, { baseUrl });

async function refused(code: string, call: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, `not refused with ${code}: ${String(error)}`);
  assert.equal(error.code, code);
  assert.ok(error.type !== undefined && error.requestId !== undefined);
  return error;
}

/** A body of an event of half an hour. They do not overlap. */
function at(number: number): CreateEvent {
  const start = new Date(Date.UTC(2099, 2, 1) + number * 3_600_000);
  const end = new Date(start.getTime() + 1_800_000);
  return { title: `Event ${number}`, start_time: start.toISOString(), end_time: end.toISOString() };
}

// Scheduling, and a list of several pages.
const { data: ada } = await kalends.api.createAgent({ body: { name: 'Ada', type: 'ai', metadata: { team: 'x' } } });
const agent = done(ada);
const { data: work } = await kalends.api.createAgentCalendar({
  path: { agent_id: agent.id },
  body: { name: 'Work', timezone: 'Europe/Berlin' },
});
const path = { cal_id: done(work).id };
const create = async (number: number, headers?: { 'Idempotency-Key': string }, client = kalends) => {
  const { data, response } = await client.api.createEvent({ path, body: at(number), ...(headers && { headers }) });
  return { event: done(data), replayed: response.headers.get('Idempotency-Replayed') === 'true' };
};
const list = (client: Kalends, limit: number) =>
  client.items((position) => client.api.listCalendarEvents({ path, query: { limit, ...position } }));
const created: string[] = [];
for (let number = 0; number < EVENTS; number += 1) created.push((await create(number)).event.id);
const listed: string[] = [];
for await (const event of list(kalends, 50)) listed.push(event.id);
assert.deepEqual(listed, created);

// Repeated writes.
const same = { 'Idempotency-Key': idempotencyKey() };
const [first, again] = [await create(200, same), await create(200, same)];
assert.deepEqual([first.event.id, first.replayed, again.replayed], [again.event.id, false, true]);
await refused('idempotency_mismatch', create(201, same));
const seen = new Set<string | null>();
const lossy = new Kalends(key, {
  baseUrl,
  fetch: async (request) => {
    assert.ok(request instanceof Request);
    const response = await fetch(request);
    const sent = request.headers.get('Idempotency-Key');
    if (sent === null || seen.has(sent)) return response;
    seen.add(sent);
    throw new TypeError('the answer is lost');
  },
});
const repeated = await create(202, undefined, lossy);
assert.ok(repeated.replayed);
const titles: string[] = [];
for await (const event of list(kalends, 200)) titles.push(event.title);
assert.equal(titles.filter((title) => title === 'Event 202').length, 1);
const stale = await refused(
  'stale',
  kalends.api.updateEvent({ path: { id: repeated.event.id }, body: { title: 'x' }, headers: { 'If-Match': '"0"' } }),
);
assert.equal(stale.status, 412);

// A run, and its undo.
const { event: planned } = await create(300, undefined, kalends.inRun('plan-week-10'));
await kalends.api.undoRun({ path: { name: 'plan-week-10' } });
await refused('event_not_found', kalends.api.getEvent({ path: { id: planned.id } }));

// The change feed.
const pages = kalends.follow(undefined, { types: 'event.*', wait: 10 });
assert.deepEqual((await pages.next()).value.data, []);
const { event: followed } = await create(400);
const [change] = (await pages.next()).value.data;
assert.deepEqual([change?.type, change?.resource_id], ['event.created', followed.id]);

// Messages that the server signs.
type Received = { headers: IncomingHttpHeaders; body: Buffer };
const received: Received[] = [];
let arrived = (): void => undefined;
const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    received.push({ headers: request.headers, body: Buffer.concat(parts) });
    response.writeHead(204).end();
    arrived();
  });
}).listen(Number(port), '127.0.0.1');
async function message(): Promise<Received> {
  while (received.length === 0) await new Promise<void>((resolve) => (arrived = resolve));
  return received.shift() as Received;
}
const { data: webhook } = await kalends.api.createWebhook({
  body: { url: `http://127.0.0.1:${port}/hook`, events: ['event.created'] },
});
const { id, secret } = done(webhook);
const { event: announced } = await create(500);
const { headers, body } = await message();
const verified = await verify(secret, headers, body);
assert.equal(verified.type, 'event.created');
assert.equal((verified.body as { id: string }).id, announced.id);
await assert.rejects(verify(secret, headers, Buffer.concat([body, Buffer.from(' ')])), WebhookError);
const { data: rotated } = await kalends.api.rotateWebhookSecret({ path: { id } });
await kalends.api.testWebhook({ path: { id } });
const test = await message();
for (const one of [done(rotated).secret, secret]) {
  assert.equal((await verify(one, test.headers, test.body)).type, 'webhook.test');
}
receiver.close();
receiver.closeAllConnections();

// Too many requests.
let busy = 0;
const slow = new Kalends(slowKey, {
  baseUrl,
  fetch: async (request) => {
    const response = await fetch(request);
    if (response.status === 429) busy += 1;
    return response;
  },
});
for (let call = 0; call < 8; call += 1) await slow.api.listAgents();
assert.ok(busy > 0, 'nothing was refused');
const hasty = new Kalends(slowKey, { baseUrl, retry: { attempts: 1 } });
const burst = async () => {
  for (let call = 0; call < 40; call += 1) await hasty.api.listAgents();
};
const limited = await refused('too_fast', burst());
assert.deepEqual([limited.status, limited.retryAfter !== undefined], [429, true]);

// A wrong key.
const wrong = await refused('invalid_key', new Kalends(`${key.slice(0, -4)}xxxx`, { baseUrl }).api.listAgents());
assert.deepEqual([wrong.status, wrong.type], [401, 'unauthorized']);

console.log('clients/typescript: round trip done');
