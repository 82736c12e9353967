// The TypeScript client of Kalends: every operation of the API, with retries, paging, typed errors and webhooks.

export { ApprovalPending, awaitsApproval, done } from './approvals.js';
export { Kalends, type Page, type Position, type Settings } from './client.js';
export { ApiError } from './errors.js';
export { DEFAULT_RETRY, idempotencyKey, type Retry } from './retry.js';
export { type Message, verify, type VerifyOptions, WebhookError } from './webhooks.js';
export type * from './generated/types.gen.js';
