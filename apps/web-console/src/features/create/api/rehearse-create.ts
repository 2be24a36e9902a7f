import type { CreateVmDto, PlanView } from '@headgate/api-contracts';
import { postJson } from '../../../shared/api/request.js';

export const rehearseCreate = (request: CreateVmDto): Promise<PlanView> =>
  postJson<PlanView>('/api/vms', { body: request, query: { dryRun: true } });
