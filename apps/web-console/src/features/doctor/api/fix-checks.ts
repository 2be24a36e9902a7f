import type { FixedView, PlanView } from '@headgate/api-contracts';
import { postJson } from '../../../shared/api/request.js';

/** A check, by its context and its name. */
export interface CheckId {
  readonly context: string;
  readonly name: string;
}

export const fixCheck = ({ context, name }: CheckId): Promise<FixedView> =>
  postJson('/api/ext/doctor/fix', { body: { context, name } });

/** The plan of the fix of one check; changes nothing. */
export const previewFix = ({ context, name }: CheckId, signal: AbortSignal): Promise<PlanView> =>
  postJson('/api/ext/doctor/fix', { body: { context, name }, query: { dryRun: true }, signal });
