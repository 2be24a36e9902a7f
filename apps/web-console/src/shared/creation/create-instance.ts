import type { AcceptedView, CreateContainerDto, CreatedView, CreateVmDto, PlanView } from '@headgate/api-contracts';
import type { InstanceCollection } from '../api/instance-path.js';
import { postJson } from '../api/request.js';

/** 201 with the instance, or 202 with only a task when the disk has to be built first. */
export type Created = AcceptedView | CreatedView;

/** The body of a new VM or container. */
export type CreationRequest = CreateVmDto | CreateContainerDto;

export const createInstance = (collection: InstanceCollection, request: CreationRequest): Promise<Created> =>
  postJson(`/api/${collection}`, { body: request });

export const previewCreation = (collection: InstanceCollection, request: CreationRequest): Promise<PlanView> =>
  postJson(`/api/${collection}`, { body: request, query: { dryRun: true } });
