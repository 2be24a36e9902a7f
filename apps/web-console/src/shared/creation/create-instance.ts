import type { AcceptedView, CreatedView, PlanView } from '@headgate/api-contracts';
import type { InstanceCollection } from '../api/instance-path.js';
import { postJson } from '../api/request.js';

/** 201 with the instance, or 202 with only a task when the disk has to be built first. */
export type Created = AcceptedView | CreatedView;

export const createInstance = (collection: InstanceCollection, request: object): Promise<Created> =>
  postJson<Created>(`/api/${collection}`, { body: request });

export const previewCreation = (collection: InstanceCollection, request: object): Promise<PlanView> =>
  postJson<PlanView>(`/api/${collection}`, { body: request, query: { dryRun: true } });
