// The layer over the generated operations, without a network.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ApiError, ApprovalPending, awaitsApproval, done, Kalends } from '../dist/index.js';
import { retryAfterOf } from '../dist/retry.js';

const BODY = { title: 'Standup', start_time: '2099-03-02T09:00:00Z', end_time: '2099-03-02T10:00:00Z' };
const TAKEN = { error: { type: 'conflict', code: 'slot_taken', message: 'It is taken.', request_id: 'req_1' } };
const BUSY = { error: { type: 'rate_limit_error', code: 'too_fast', message: 'Too fast.', request_id: 'req_2' } };

const json = (status, body, headers = {}) => () =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });
const page = (data, total, offset = 0) => json(200, { data, total, limit: 50, offset });
const feed = (next, has_more = false) => json(200, { data: [], next, has_more });
const lost = () => {
  throw new TypeError('fetch failed');
};

/** A service that answers with a script, and keeps the requests and waits. */
function service(...script) {
  const kept = { requests: [], waits: [], now: 0 };
  const time = {
    now: () => kept.now,
    sleep: async (seconds) => {
      kept.waits.push(seconds);
      kept.now += seconds;
    },
  };
  const fetch = async (request) => {
    kept.requests.push({ url: new URL(request.url), headers: request.headers, body: await request.text() });
    return script.shift()();
  };
  const own = { baseUrl: 'http://kalends.test/', fetch, time };
  kept.client = (settings = {}) => new Kalends('svc_sk_1', { ...own, ...settings });
  kept.keys = () => kept.requests.map(({ headers }) => headers.get('Idempotency-Key'));
  return kept;
}

const lists = (client) => client.api.listCalendarEvents({ path: { cal_id: 'cal_1' } });
const creates = (client, options = {}) => client.api.createEvent({ path: { cal_id: 'cal_1' }, body: BODY, ...options });

test('the key is sent', async () => {
  const it = service(page([], 0));
  await lists(it.client());
  assert.equal(it.requests[0].headers.get('Authorization'), 'Bearer svc_sk_1');
  assert.equal(it.requests[0].url.pathname, '/v1/calendars/cal_1/events');
  assert.deepEqual(it.keys(), [null]);
});

test('a read waits as long as the service says', async () => {
  const it = service(json(429, BUSY, { 'Retry-After': '2' }), json(503, BUSY, { 'Retry-After': '1' }), page([], 0));
  const { data } = await lists(it.client());
  assert.equal(data.total, 0);
  assert.deepEqual(it.waits, [2, 1]);
});

test('a read waits until a date', async () => {
  const it = service(json(429, BUSY, { 'Retry-After': 'Thu, 01 Jan 1970 00:00:00 GMT' }), page([], 0));
  await lists(it.client());
  assert.deepEqual(it.waits, [0]);
});

for (const [header, wait] of [
  ['Sun, 06 Nov 1994 08:49:44 GMT', 7],
  ['Sun, 06 Nov 1994 08:49:30 GMT', 0],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 366 * 86_400],
  ['7', 7],
  ['9'.repeat(5000), 366 * 86_400],
  ['Sun, 99 Nov 1994 08:49:44 GMT', undefined],
  ['Sun, 06 Nov 1994 08:49:44', undefined],
  ['-7', undefined],
  ['soon', undefined],
  ['', undefined],
]) {
  test(`a Retry-After of "${header.slice(0, 40)}" is a wait of ${wait}`, () => {
    // Sunday, 6 November 1994, 08:49:37.
    assert.equal(retryAfterOf(new Headers({ 'Retry-After': header }), 784_111_777_000), wait);
  });
}

test('all attempts at a write share a key', async () => {
  const it = service(lost, json(503, BUSY, { 'Retry-After': '1' }), json(409, TAKEN));
  const error = await creates(it.client()).catch((error) => error);
  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.status, error.type, error.code, error.requestId], [409, 'conflict', 'slot_taken', 'req_1']);
  const [first, ...others] = it.keys();
  assert.ok(first.length >= 20);
  assert.deepEqual(others, [first, first]);
  assert.deepEqual(it.requests.map(({ body }) => JSON.parse(body)), [BODY, BODY, BODY]);
});

test('two writes have different keys', async () => {
  const it = service(json(409, TAKEN), json(409, TAKEN));
  for (const _ of [1, 2]) await assert.rejects(creates(it.client()), ApiError);
  assert.equal(new Set(it.keys()).size, 2);
});

test('a chosen key is kept', async () => {
  const it = service(json(409, TAKEN));
  await assert.rejects(creates(it.client(), { headers: { 'Idempotency-Key': 'mine' } }), ApiError);
  assert.deepEqual(it.keys(), ['mine']);
});

test('there are at most four attempts', async () => {
  const it = service(...Array.from({ length: 5 }, () => json(503, BUSY, { 'Retry-After': '0' })));
  await assert.rejects(lists(it.client()), { retryAfter: 0 });
  assert.equal(it.requests.length, 4);
});

for (const [status, headers] of [
  [429, {}],
  [429, { 'Retry-After': '864000' }],
  [429, { 'Retry-After': 'Fri, 31 Dec 9999 23:59:59 GMT' }],
  [500, { 'Retry-After': '1' }],
]) {
  test(`${status} with ${JSON.stringify(headers)} is thrown at once`, async () => {
    const it = service(json(status, BUSY, headers));
    await assert.rejects(lists(it.client()), ApiError);
    assert.deepEqual(it.waits, []);
  });
}

test('the total time is bounded', async () => {
  const it = service(...Array.from({ length: 4 }, () => json(503, BUSY, { 'Retry-After': '9' })));
  await assert.rejects(lists(it.client({ retry: { longestTotal: 20 } })), ApiError);
  assert.deepEqual(it.waits, [9, 9]);
});

test('a lost connection is thrown in the end', async () => {
  const it = service(lost, lost, lost, lost);
  await assert.rejects(lists(it.client()), TypeError);
  assert.ok(it.waits.every((wait, index) => wait >= 0.125 * 2 ** index && wait <= 0.25 * 2 ** index), `${it.waits}`);
});

test('a caller that gives up ends the attempts', async () => {
  const stop = new AbortController();
  const it = service(() => {
    stop.abort();
    throw stop.signal.reason;
  });
  await assert.rejects(it.client().api.listCalendarEvents({ path: { cal_id: 'cal_1' }, signal: stop.signal }), {
    name: 'AbortError',
  });
  assert.equal(it.requests.length, 1);
});

test('the answer of a proxy is an error without a code', async () => {
  const it = service(() => new Response('<h1>Not here</h1>', { status: 404, headers: { 'X-Request-Id': 'req_3' } }));
  await assert.rejects(lists(it.client()), (error) => error.code === undefined && error.requestId === 'req_3');
});

for (const status of [301, 302, 308]) {
  test(`the redirect ${status} is an error without a code`, async () => {
    const headers = { Location: 'https://kalends.test/' };
    const it = service(() => new Response('<h1>Moved</h1>', { status, headers }));
    await assert.rejects(lists(it.client()), (error) => error.status === status && error.code === undefined);
    assert.equal(it.requests.length, 1);
  });
}

test('lists are read to their end', async () => {
  const it = service(page([{ id: 'evt_1' }, { id: 'evt_2' }], 3), page([{ id: 'evt_3' }], 3, 2));
  const client = it.client();
  const found = [];
  const events = client.items((position) =>
    client.api.listCalendarEvents({ path: { cal_id: 'cal_1' }, query: { limit: 2, ...position } }),
  );
  for await (const event of events) found.push(event.id);
  assert.deepEqual(found, ['evt_1', 'evt_2', 'evt_3']);
  assert.deepEqual(it.requests.map(({ url }) => url.search), ['?limit=2', '?limit=2&offset=2']);
});

test('lists with a cursor are read to their end', async () => {
  const asked = [];
  const answers = [
    { data: [1], pagination: { next_cursor: 'c' } },
    { data: [2], pagination: { next_cursor: null } },
  ];
  const pages = service().client().pages(async (position) => {
    asked.push(position);
    return { data: answers.shift() };
  });
  for await (const one of pages) assert.equal(one.data.length, 1);
  assert.deepEqual(asked, [{}, { cursor: 'c' }]);
});

for (const end of [{}, { next: null }]) {
  test(`a search that ends with ${JSON.stringify(end)} is read to its end`, async () => {
    const it = service(...[{ next: 'c' }, { next: 'd' }, end].map((after) => json(200, { data: [{}], ...after })));
    const client = it.client();
    const found = [];
    const events = client.items((position) => client.api.searchEvents({ query: { q: 'standup', ...position } }));
    for await (const event of events) found.push(event);
    assert.equal(found.length, 3);
    assert.deepEqual(it.requests.map(({ url }) => url.searchParams.get('cursor')), [null, 'c', 'd']);
    assert.ok(it.requests.every(({ url }) => url.searchParams.get('q') === 'standup'));
  });
}

test('changes are read to the present', async () => {
  const it = service(feed('b', true), feed('c'));
  const client = it.client();
  const pages = client.pages((position) => client.api.listChanges({ query: { since: 'a', ...position } }));
  for await (const _ of pages);
  assert.deepEqual(it.requests.map(({ url }) => url.searchParams.get('since')), ['a', 'b']);
});

test('changes are followed', async () => {
  const it = service(feed('b'), feed('c', true), feed('d'));
  const found = [];
  for await (const { next } of it.client().follow(undefined, { wait: 5, types: 'event.*' })) {
    found.push(next);
    if (found.length === 3) break;
  }
  assert.deepEqual(found, ['b', 'c', 'd']);
  assert.equal(it.requests[0].url.searchParams.get('since'), null);
  assert.equal(it.requests[2].url.searchParams.get('since'), 'c');
  assert.equal(it.requests[2].url.searchParams.get('types'), 'event.*');
});

test('a write that waits for approval is a value', async () => {
  const it = service(json(202, { approval: { id: 'apr_1', status: 'pending' } }));
  const { data } = await creates(it.client());
  assert.ok(awaitsApproval(data));
  assert.throws(() => done(data), (error) => error instanceof ApprovalPending && error.approval.id === 'apr_1');
  assert.deepEqual(done({ id: 'evt_1' }), { id: 'evt_1' });
});

test('a run is named in a header', async () => {
  const it = service(json(409, TAKEN), page([], 0));
  const client = it.client();
  await assert.rejects(creates(client.inRun('plan-week-10')), ApiError);
  await lists(client);
  assert.deepEqual(it.requests.map(({ headers }) => headers.get('Kalends-Run')), ['plan-week-10', null]);
});
