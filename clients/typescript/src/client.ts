// The client: a key, a base URL, and the generated operations over a `fetch` that repeats requests.

import { ApiError } from './errors.js';
import { createClient, createConfig } from './generated/client/index.js';
import { Operations } from './generated/sdk.gen.js';
import type { OrganizationChanges } from './generated/types.gen.js';
import { DEFAULT_RETRY, REAL_TIME, type Retry, retryingFetch, type Time } from './retry.js';

/** Longer than the longest wait for changes, which is 60 seconds. */
const TIMEOUT = 75;

export interface Settings {
  /** The address of the service, such as `https://calendar.example.com`. */
  baseUrl: string;
  retry?: Partial<Retry>;
  /** How long an attempt may take, in seconds. */
  timeout?: number;
  /** The name of the run that the writes belong to. */
  run?: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
  /** Replaces the clock, for tests. */
  time?: Time;
}

/** A page of a list. */
export interface Page<T> {
  data: T[];
  total?: number;
  offset?: number;
  pagination?: { next_cursor?: string | null };
  next?: string | null;
  has_more?: boolean;
}

/** Where a page begins. Empty for the first one. */
export interface Position {
  offset?: number;
  cursor?: string;
  since?: string;
}

/** Calls the API with a key. The operations are methods of `api`; they throw `ApiError` if the service refuses. */
export class Kalends {
  readonly api: Operations;
  readonly #key: string | undefined;
  readonly #settings: Settings;

  constructor(key: string | undefined, settings: Settings) {
    this.#key = key;
    this.#settings = settings;
    const headers: Record<string, string> = {};
    if (key !== undefined) headers['Authorization'] = `Bearer ${key}`;
    if (settings.run !== undefined) headers['Kalends-Run'] = settings.run;
    const client = createClient(
      createConfig({
        baseUrl: settings.baseUrl.replace(/\/+$/, ''),
        headers,
        redirect: 'manual',
        throwOnError: true,
        fetch: retryingFetch(
          settings.fetch ?? globalThis.fetch,
          { ...DEFAULT_RETRY, ...settings.retry },
          settings.timeout ?? TIMEOUT,
          settings.time ?? REAL_TIME,
        ),
      }),
    );
    client.interceptors.error.use((error, response) =>
      // There is none if the connection failed.
      (response as Response | undefined) === undefined ? error : new ApiError(response as Response, error),
    );
    this.api = new Operations({ client });
  }

  /** The same client, whose writes belong to the run of that name. */
  inRun(name: string): Kalends {
    return new Kalends(this.#key, { ...this.#settings, run: name });
  }

  /** The pages of a list, one request each. `list` puts the position into the query. */
  async *pages<P extends Page<unknown>>(list: (position: Position) => Promise<{ data: P }>): AsyncGenerator<P, void> {
    for (let position: Position | undefined = {}; position !== undefined; ) {
      const { data: page }: { data: P } = await list(position);
      yield page;
      position = next(page);
    }
  }

  /** The entries of a list, over all its pages. */
  async *items<T>(list: (position: Position) => Promise<{ data: Page<T> }>): AsyncGenerator<T, void> {
    for await (const page of this.pages(list)) yield* page.data;
  }

  /**
   * Everything that changes in the organization, without an end.
   *
   * Store `next` of each page together with what you did with its `data`, and continue with it as `since`. Without
   * `since`, the first page is empty, and its `next` is the present end. A page may be empty: nothing happened in
   * `wait` seconds.
   */
  async *follow(
    since?: string,
    options: { wait?: number; types?: string; limit?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<OrganizationChanges, never> {
    const { signal, ...query } = { wait: 30, ...options };
    for (let from = since; ; ) {
      const { data } = await this.api.listChanges({
        query: { ...query, ...(from === undefined ? {} : { since: from }) },
        ...(signal === undefined ? {} : { signal }),
      });
      yield data;
      from = data.next;
    }
  }
}

function next(page: Page<unknown>): Position | undefined {
  if (page.total !== undefined) {
    const offset = (page.offset ?? 0) + page.data.length;
    return page.data.length > 0 && offset < page.total ? { offset } : undefined;
  }
  if (page.pagination !== undefined) {
    return page.pagination.next_cursor ? { cursor: page.pagination.next_cursor } : undefined;
  }
  if (!page.next) return undefined;
  // Only changes have `has_more`. Their `next` is a position even at the end.
  if (page.has_more === undefined) return { cursor: page.next };
  return page.has_more ? { since: page.next } : undefined;
}
