import { badRequest, deepCopy, denied } from '@headgate/kube-sandbox';
import { applyVmDefaults } from '../admission/virtual-machine-admission.js';
import { virtualMachineCauses } from '../admission/virtual-machine-rules.js';
import { expandedSpec, ExpansionFailure } from '../machines/instancetype-expansion.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { SUBRESOURCES } from './subresource-support.js';

/** The endpoints of `subresources.kubevirt.io` that belong to no object. */
export function registerGroupEndpoints(context: SimulationContext): void {
  const { subresources, release } = context;
  const at = (resource: string) => ({ group: SUBRESOURCES, resource, subresource: '' });
  subresources.handle(at('version'), ['GET'], () => ({
    code: 200,
    body: {
      gitVersion: release.tag,
      gitCommit: '',
      gitTreeState: 'clean',
      buildDate: '2026-01-01T00:00:00Z',
      goVersion: 'go1.25',
      compiler: 'gc',
      platform: 'linux/amd64',
    },
  }));
  subresources.handle(at('healthz'), ['GET'], () => ({
    code: 200,
    body: { apiserver: { connectivity: 'ok' } },
  }));
  subresources.handle(at('guestfs'), ['GET'], () => ({
    code: 200,
    body: { registry: 'registry.example.org/kubevirt', tag: release.tag, imagePrefix: '' },
  }));
  subresources.handle(at('expand-vm-spec'), ['PUT'], ({ body, namespace }) => ({
    code: 200,
    body: expandVm(context, body, namespace),
  }));
}

/** @throws ApiError 400, 422 */
function expandVm(context: SimulationContext, body: unknown, namespace: string | undefined): VirtualMachine {
  if (body === undefined || body === null)
    throw badRequest('Request with no body, a new VM is expected as the request body');
  const vm = deepCopy(body) as VirtualMachine;
  if (vm.kind !== 'VirtualMachine') throw badRequest('Object is not a valid VirtualMachine');
  vm.metadata = { ...vm.metadata, name: vm.metadata?.name ?? '', namespace };
  applyVmDefaults(vm);
  const causes = virtualMachineCauses(vm, context);
  if (causes.length > 0) throw denied('virtualmachine-validator.kubevirt.io', { causes });
  try {
    vm.spec.template.spec = expandedSpec(context, vm);
  } catch (error) {
    if (error instanceof ExpansionFailure) throw badRequest(error.message);
    throw error;
  }
  delete vm.spec.instancetype;
  delete vm.spec.preference;
  return vm;
}
