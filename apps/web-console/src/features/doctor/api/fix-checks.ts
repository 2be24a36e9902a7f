import type { FixedView, PlanView } from '@headgate/api-contracts';
import { postJson } from '../../../shared/api/request.js';

export const fixChecks = (): Promise<FixedView> => postJson('/api/doctor/fix');

export const previewFix = (signal: AbortSignal): Promise<PlanView> =>
  postJson('/api/doctor/fix', { query: { dryRun: true }, signal });
