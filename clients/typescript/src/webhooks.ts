// Verifies the messages that Kalends sends to webhook endpoints.

const PREFIX = 'whsec_';
/** The largest difference to the receiver's clock, in seconds. */
const TOLERANCE = 300;

/** The message is not genuine, or too old. Answer with 400, and do nothing. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/** A genuine message. */
export interface Message {
  /** The same in every attempt. Store the ones that you have handled. */
  id: string;
  type: string | undefined;
  /** The version of the resource. It rises with each change. */
  version: number | undefined;
  timestamp: number;
  body: unknown;
}

export interface VerifyOptions {
  /** The largest difference to the clock in seconds: 300. */
  tolerance?: number;
  /** The time in Unix seconds. */
  now?: number;
}

type Named = Headers | Record<string, string | string[] | undefined>;

/**
 * Checks `webhook-signature` over the raw bytes of the body, before any parsing.
 *
 * During a rotation the header has a signature of each secret, so one secret of a receiver is enough. Pass several if
 * the receiver serves several endpoints.
 */
export async function verify(
  secret: string | readonly string[],
  headers: Named,
  body: Uint8Array | string,
  { tolerance = TOLERANCE, now = Date.now() / 1000 }: VerifyOptions = {},
): Promise<Message> {
  const id = required(headers, 'webhook-id');
  const stamp = required(headers, 'webhook-timestamp');
  const given = required(headers, 'webhook-signature');
  if (!/^[0-9]{1,12}$/.test(stamp)) throw new WebhookError('webhook-timestamp is not a time in Unix seconds');
  const timestamp = Number(stamp);
  if (Math.abs(now - timestamp) > tolerance) {
    throw new WebhookError(`webhook-timestamp differs from the clock by more than ${tolerance} seconds`);
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${stamp}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  const signatures = given.split(' ').filter((one) => one.startsWith('v1,'));
  let genuine = false;
  for (const one of typeof secret === 'string' ? [secret] : secret) {
    const key = await keyOf(one);
    for (const signature of signatures) {
      const mac = decode(signature.slice(3));
      // `verify` compares in constant time.
      if (mac !== undefined && (await crypto.subtle.verify('HMAC', key, mac, signed))) genuine = true;
    }
  }
  if (!genuine) throw new WebhookError('no signature in webhook-signature is right');
  const version = header(headers, 'x-resource-version');
  return {
    id,
    type: header(headers, 'x-service-event-type'),
    version: version !== undefined && /^[0-9]+$/.test(version) ? Number(version) : undefined,
    timestamp,
    body: parse(bytes),
  };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw new WebhookError('the body is not JSON');
  }
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = decode(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  // Anyone can sign with an empty key.
  if (bytes === undefined || bytes.length === 0) throw new TypeError('a secret is `whsec_` and base64');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function required(headers: Named, name: string): string {
  const value = header(headers, name);
  if (value === undefined) throw new WebhookError(`the header ${name} is missing`);
  return value;
}

function header(headers: Named, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(' ') : value;
}
