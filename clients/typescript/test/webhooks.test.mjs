// The verification of messages.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';

import { verify, WebhookError } from '../dist/index.js';

const secretOf = (letter) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;
const [SECRET, OLD] = [secretOf('k'), secretOf('o')];
const NOW = 1_900_000_000;
const BODY = '{"id": "evt_1"}';

function signature(secret, body = BODY, timestamp = NOW) {
  const key = Buffer.from(secret.slice(6), 'base64');
  return `v1,${createHmac('sha256', key).update(`whd_1.${timestamp}.${body}`).digest('base64')}`;
}

const headers = (signatures, timestamp = NOW) => ({
  'Webhook-Id': 'whd_1',
  'Webhook-Timestamp': String(timestamp),
  'Webhook-Signature': signatures.join(' '),
  'X-Service-Event-Type': 'event.created',
  'X-Resource-Version': '3',
});

test('a genuine message is read', async () => {
  for (const given of [headers([signature(SECRET)]), new Headers(headers([signature(SECRET)]))]) {
    const message = await verify(SECRET, given, Buffer.from(BODY), { now: NOW + 300 });
    const named = { id: 'whd_1', type: 'event.created', version: 3 };
    assert.deepEqual(message, { ...named, timestamp: NOW, body: { id: 'evt_1' } });
  }
});

test('a known signature is right', async () => {
  // The example of Standard Webhooks.
  const given = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const message = await verify(secret, given, '{"test": 2432232314}', { now: 1614265330 });
  assert.deepEqual(message.body, { test: 2432232314 });
});

test('one right signature is enough', async () => {
  const both = headers([signature(SECRET), signature(OLD)]);
  for (const secrets of [SECRET, OLD, [SECRET, OLD], [secretOf('x'), OLD]]) {
    await verify(secrets, both, BODY, { now: NOW });
  }
});

for (const [name, given, body, now] of [
  ['another secret', headers([signature(OLD)]), BODY, NOW],
  ['another body', headers([signature(SECRET)]), `${BODY} `, NOW],
  ['an old message', headers([signature(SECRET)]), BODY, NOW + 301],
  ['a message of the future', headers([signature(SECRET)]), BODY, NOW - 301],
  ['another time', headers([signature(SECRET)], NOW + 1), BODY, NOW],
  ['a signature that is not base64', headers(['v1,ä']), BODY, NOW],
  ['no signature', headers([]), BODY, NOW],
  ['a time in words', headers([signature(SECRET)], 'soon'), BODY, NOW],
  ['no headers', {}, BODY, NOW],
]) {
  test(`${name} is refused`, () => assert.rejects(verify(SECRET, given, body, { now }), WebhookError));
}

for (const secret of ['', 'whsec_', 'whsec_ ', 'whsec_k', 'whsec_ä']) {
  test(`the secret "${secret}" has no key and is refused`, async () => {
    const mac = createHmac('sha256', '').update(`whd_1.${NOW}.${BODY}`).digest('base64');
    for (const secrets of [secret, [SECRET, secret]]) {
      await assert.rejects(verify(secrets, headers([`v1,${mac}`]), BODY, { now: NOW }), TypeError);
    }
  });
}
