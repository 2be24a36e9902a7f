import type { AcceptedView, CreateContainerDto, CreatedView, CreateVmDto, PlanView } from '@headgate/api-contracts';
import { sendRequest, type ApiRequest } from '../actions/api-request.js';
import type { InstanceCollection } from '../api/instance-path.js';

/** 201 with the instance, or 202 with only a task when the disk has to be built first. */
export type Created = AcceptedView | CreatedView;

/** The body of a new VM or container. */
export type CreationRequest = CreateVmDto | CreateContainerDto;

/** The request as data. */
export const creationRequest = (collection: InstanceCollection, body: CreationRequest): ApiRequest => ({
  method: 'POST',
  path: `/api/${collection}`,
  body,
});

export const createInstance = (collection: InstanceCollection, body: CreationRequest): Promise<Created> =>
  sendRequest(creationRequest(collection, body));

export const previewCreation = (
  collection: InstanceCollection,
  body: CreationRequest,
  signal: AbortSignal,
): Promise<PlanView> => sendRequest(creationRequest(collection, body), { dryRun: true, signal });
