// A caller's code with the types of the description. The arguments are the server's address and a key.

import createClient from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

declare const process: { argv: string[] };
const [url, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });

function done<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(`refused: ${JSON.stringify(error)}`);
  return data;
}

function same(got: unknown, expected: unknown): void {
  if (JSON.stringify(got) !== JSON.stringify(expected)) throw new Error(`got ${JSON.stringify(got)}`);
}

// In the order in which they are returned.
const metadata = { depth: { is: [1, null] }, team: 'x' };
const agent = done(await client.POST('/v1/agents', { body: { name: 'Ada', type: 'ai', metadata } }));
same(agent.metadata, metadata);
const calendar = done(
  await client.POST('/v1/agents/{agent_id}/calendars', {
    params: { path: { agent_id: agent.id } },
    body: { name: 'Work', timezone: 'Europe/Berlin' },
  }),
);
const event = done(
  await client.POST('/v1/calendars/{cal_id}/events', {
    params: { path: { cal_id: calendar.id } },
    body: {
      title: 'Standup',
      start_time: '2027-03-02T09:00:00Z',
      end_time: '2027-03-02T10:00:00Z',
      metadata: { room: 7 },
    },
  }),
);
const listed = done(
  await client.GET('/v1/calendars/{cal_id}/events', { params: { path: { cal_id: calendar.id } } }),
);
const first: components['schemas']['Event'] = listed.data[0];
same([listed.total, first.id, first.metadata], [1, event.id, { room: 7 }]);

const refused = await client.GET('/v1/agents/{id}', { params: { path: { id: 'agt_unknown' } } });
const code: components['schemas']['ErrorCode'] | undefined = refused.error?.error.code;
same(code, 'agent_not_found');

// Enumerations are closed.
const settled: components['schemas']['ProposalSummary']['status'] = 'confirmed';
// @ts-expect-error Proposals do not have this status.
const unsettled: components['schemas']['ProposalSummary']['status'] = 'settled';
same([settled, unsettled], ['confirmed', 'settled']);

// Webhook payloads have types too.
type Message = components['schemas']['ProposalResponded'];
const message: Message = { proposal_id: 'spr_1', agent_id: agent.id, response: 'accept' };
same(message.response, 'accept');

console.log('openapi-typescript: round trip done');
