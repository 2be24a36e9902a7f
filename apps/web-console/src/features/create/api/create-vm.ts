import type { AcceptedView, CreatedView, CreateVmDto } from '@headgate/api-contracts';
import { postJson } from '../../../shared/api/request.js';

/** 201 with the instance, or 202 with only a task where the disk is built first. */
export type Created = AcceptedView | CreatedView;

export const createVm = (request: CreateVmDto): Promise<Created> => postJson<Created>('/api/vms', { body: request });
