import {
  ApiError,
  badRequest,
  conflict,
  notFound,
  type SubresourceResponse,
  type SubresourceRequest,
} from '@headgate/kube-sandbox';
import { RESOURCES } from '../resources.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';

export const SUBRESOURCES = 'subresources.kubevirt.io';

type Request = Pick<SubresourceRequest, 'namespace' | 'name'>;

/** virt-api names resources in the singular. */
const vmSubject = (name: string) => ({ group: 'kubevirt.io', resource: 'virtualmachine', name });
const vmiSubject = (name: string) => ({ group: 'kubevirt.io', resource: 'virtualmachineinstance', name });

export const vmConflict = (name: string, why: string): ApiError => conflict(vmSubject(name), why);
export const vmiConflict = (name: string, why: string): ApiError => conflict(vmiSubject(name), why);

export const findVm = (context: SimulationContext, { namespace, name }: Request): VirtualMachine | undefined =>
  context.find<VirtualMachine>(RESOURCES.vm, namespace, name);

export const findVmi = (context: SimulationContext, { namespace, name }: Request): VirtualMachineInstance | undefined =>
  context.find<VirtualMachineInstance>(RESOURCES.vmi, namespace, name);

/** @throws ApiError 404 */
export function requireVm(context: SimulationContext, request: Request): VirtualMachine {
  const vm = findVm(context, request);
  if (!vm) throw notFound(vmSubject(request.name));
  return vm;
}

/** @throws ApiError 404 */
export function requireVmi(context: SimulationContext, request: Request): VirtualMachineInstance {
  const vmi = findVmi(context, request);
  if (!vmi) throw notFound(vmiSubject(request.name));
  return vmi;
}

/** virt-api's routes of actions declare no media type, so a client that accepts JSON alone is refused with 406. */
export const ACTION_ROUTE = { produces: [] };

export const ACCEPTED: SubresourceResponse = { code: 202 };
export const DONE: SubresourceResponse = { code: 200 };

/** The body as an object; an empty body is valid. @throws ApiError 400 */
export function optionsOf<T extends object>(body: unknown): Partial<T> & { dryRun?: string[] } {
  if (body === undefined || body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw badRequest('Can not unmarshal Request body to struct, error: json: cannot unmarshal into Go value');
  }
  return body as T;
}

export const isDryRun = ({ dryRun = [] }: { dryRun?: string[] }): boolean => dryRun.includes('All');

/** virt-api's response to a failed GET: plain text, whatever the reason. */
export function plainFailure(error: unknown): SubresourceResponse {
  if (!(error instanceof ApiError)) throw error;
  return { code: 500, body: error.message };
}
