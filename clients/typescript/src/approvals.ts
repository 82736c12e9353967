// Writes that wait until a person allows them.

import type { Approval, AwaitsApproval } from './generated/types.gen.js';

/** Whether the answer to a write is that it waits for a person's approval. */
export function awaitsApproval(data: unknown): data is AwaitsApproval {
  return typeof data === 'object' && data !== null && 'approval' in data;
}

/** A write waits for a person's approval, and nothing has been done yet. */
export class ApprovalPending extends Error {
  override readonly name = 'ApprovalPending';

  constructor(readonly approval: Approval) {
    super(`the write waits for approval: ${approval.id}`);
  }
}

/** The answer to a write that was done. Throws `ApprovalPending` if it waits for approval. */
export function done<T>(data: T): Exclude<T, AwaitsApproval> {
  if (awaitsApproval(data)) throw new ApprovalPending(data.approval);
  return data as Exclude<T, AwaitsApproval>;
}
