import type { FixedView, PlanView } from '@headgate/api-contracts';
import { postJson } from '../../../shared/api/request.js';

export const fixChecks = (): Promise<FixedView> => postJson<FixedView>('/api/doctor/fix');

export const previewFix = (signal: AbortSignal): Promise<PlanView> =>
  postJson<PlanView>('/api/doctor/fix', { query: { dryRun: true }, signal });
