// When to repeat a request, and after what wait.

/** How often to send a request, and how long to wait between attempts. */
export interface Retry {
  /** The maximum number of attempts, including the first one. 1 turns retries off. */
  attempts: number;
  /** If the service asks for a longer wait, its answer is returned at once. In seconds. */
  longestWait: number;
  /** No attempt begins later than this after the first one began. In seconds. */
  longestTotal: number;
}

export const DEFAULT_RETRY: Retry = { attempts: 4, longestWait: 10, longestTotal: 60 };

/** The maximum of the first wait if the service names none, in seconds. */
const FIRST_WAIT = 0.25;
// 409 has `Retry-After` if the first request under the same key is still running, or if other requests were faster.
const WITH_HEADER = [409, 429, 502, 503, 504];
// A proxy answered, and named no wait.
const WITHOUT_HEADER = [502, 503, 504];
// Repeating them has the same effect as sending them once.
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];
const WRITES = ['POST', 'PATCH', 'PUT', 'DELETE'];
const HEADER = 'Idempotency-Key';
/** A date in the form that RFC 9110 prescribes. */
const DATE = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;
/** The longest wait that a header can name, in seconds. */
const YEAR = 366 * 86_400;

/** What ended an attempt. Without a status, there was no answer. */
export interface Outcome {
  status?: number | undefined;
  retryAfter?: number | undefined;
}

/** A new random key. Send the same key with every attempt at one write. */
export function idempotencyKey(): string {
  return crypto.randomUUID();
}

/**
 * The wait before the next attempt in seconds, or `undefined` if there is none. `attempt` counts from 1, and `passed`
 * is the time since the first one began. `jitter` is between 0 and 1.
 */
export function waitAfter(
  retry: Retry,
  attempt: number,
  passed: number,
  { status, retryAfter }: Outcome,
  jitter: number,
): number | undefined {
  if (attempt >= retry.attempts) return undefined;
  let wait: number | undefined;
  if (status !== undefined && WITH_HEADER.includes(status) && retryAfter !== undefined) {
    wait = retryAfter <= retry.longestWait ? retryAfter : undefined;
  } else if (status === undefined || WITHOUT_HEADER.includes(status)) {
    const most = Math.min(FIRST_WAIT * 2 ** (attempt - 1), retry.longestWait);
    wait = most / 2 + (most / 2) * jitter;
  }
  return wait !== undefined && passed + wait <= retry.longestTotal ? wait : undefined;
}

/** The wait that `Retry-After` names in seconds or as a date, from 0 to a year. `now` is in milliseconds. */
export function retryAfterOf(headers: Headers, now = Date.now()): number | undefined {
  const text = headers.get('Retry-After') ?? '';
  if (/^[0-9]+$/.test(text)) return Math.min(Number(text), YEAR);
  const date = DATE.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.min(Math.max((date - now) / 1000, 0), YEAR);
}

/** The clock and the wait. Tests replace them. */
export interface Time {
  /** In seconds. */
  now(): number;
  sleep(seconds: number, signal: AbortSignal): Promise<void>;
}

export const REAL_TIME: Time = {
  now: () => performance.now() / 1000,
  sleep: (seconds, signal) =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', stop);
        resolve();
      }, seconds * 1000);
      signal.addEventListener('abort', stop, { once: true });
    }),
};

/** A `fetch` that adds an `Idempotency-Key` to writes, and repeats what may be repeated. */
export function retryingFetch(inner: typeof fetch, retry: Retry, timeout: number, time: Time): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    if (WRITES.includes(request.method) && !request.headers.has(HEADER)) {
      request.headers.set(HEADER, idempotencyKey());
    }
    const repeatable = IDEMPOTENT.includes(request.method) || request.headers.has(HEADER);
    const began = time.now();
    for (let attempt = 1; ; attempt += 1) {
      let outcome: Outcome = {};
      let end: () => Response;
      try {
        const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeout * 1000)]);
        const response = await inner(new Request(request.clone(), { signal }));
        outcome = { status: response.status, retryAfter: retryAfterOf(response.headers) };
        end = () => response;
      } catch (error) {
        if (request.signal.aborted) throw error;
        end = () => {
          throw error;
        };
      }
      const wait = waitAfter(retry, attempt, time.now() - began, outcome, Math.random());
      if (!repeatable || wait === undefined) return end();
      if (outcome.status !== undefined) await end().body?.cancel();
      await time.sleep(wait, request.signal);
    }
  };
}
