// The errors of the service.

import type { ErrorBody } from './generated/types.gen.js';
import { retryAfterOf } from './retry.js';

/**
 * The service refused a request.
 *
 * `type` and `code` are stable names. They are `undefined` if a proxy answered instead of the service.
 * `param` names the field. Quote `requestId` to the operator. `error` has all fields of the error, such as
 * `nearest_free` of `slot_taken`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  /** In seconds. */
  readonly retryAfter: number | undefined;
  readonly error: Partial<ErrorBody>;

  constructor(response: Response, body: unknown) {
    const error = errorOf(body);
    const message = error.message ?? `the answer has the status ${response.status}`;
    super(error.code === undefined ? message : `${response.status} ${error.code}: ${message}`);
    this.status = response.status;
    this.type = error.type;
    this.code = error.code;
    this.param = error.param ?? undefined;
    this.requestId = error.request_id ?? response.headers.get('X-Request-Id') ?? undefined;
    this.retryAfter = retryAfterOf(response.headers);
    this.error = error;
  }
}

function errorOf(body: unknown): Partial<ErrorBody> {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {};
  const { error } = body;
  return typeof error === 'object' && error !== null ? (error as Partial<ErrorBody>) : {};
}
