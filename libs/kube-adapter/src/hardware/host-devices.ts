import {
  deviceNotFound,
  refusal,
  refusedChange,
  type AttachHostDeviceChange,
  type DetachHostDeviceChange,
  type HostDevice,
  type HostResources,
} from '@headgate/domain-contracts';
import type { PassedThroughDevice } from '../api/object-types.js';
import { patchedChange } from './patched-change.js';
import { replaceIfSame, VM_PATHS, type PlannedPatch } from './planned-change.js';
import { hostDevicesOf } from '../inventory/read-placement.js';
import { uidTest } from './scale.js';
import type { HardwareDeps, VmState } from './vm-hardware.js';

export interface HostDeviceDeps extends HardwareDeps {
  readonly hostResources: HostResources;
}

const MAX_NAME_LENGTH = 50;

/** Plans how devices of nodes are passed through to VMs. The scheduler then chooses a node that has a free one. */
export class HostDeviceChanges {
  constructor(private readonly deps: HostDeviceDeps) {}

  async attach(state: VmState, { device: resource }: AttachHostDeviceChange): Promise<PlannedPatch> {
    const { ref, spec } = state;
    const devices = await this.deps.hostResources.devices();
    const found = devices.find(({ name }) => name === resource);
    if (!found) {
      const known =
        devices.length === 0 ? 'it permits none' : `it permits ${devices.map(({ name }) => name).join(', ')}`;
      const reason = `The cluster permits no device ${resource} for VMs: ${known}.`;
      const remedy = 'Add it to permittedHostDevices in the KubeVirt resource, or choose another one.';
      return refusedChange(refusal('DEVICE_NOT_FOUND', reason, remedy));
    }
    if (found.refusal !== null) return refusedChange(refusalOf(found, found.refusal));
    const present = hostDevicesOf(spec).map(({ name }) => name);
    const name = freeName(resource, present);
    const list = found.isGpu ? 'gpus' : 'hostDevices';
    const before = spec.domain?.devices?.[list];
    const after = [...(before ?? []), { name, deviceName: resource }];
    const step = { name: 'attach', detail: `${resource} is passed through to ${ref.name} as ${name}.` };
    const warnings = [
      'The VM can neither be migrated nor saved with its memory while it has the device.',
      'It only starts on a node that has a free one.',
    ];
    return this.patched(state, { list, before, after, step, warnings });
  }

  async detach(state: VmState, { name }: DetachHostDeviceChange): Promise<PlannedPatch> {
    const { ref, spec } = state;
    const lists = ['gpus', 'hostDevices'] as const;
    const list = lists.find((one) => spec.domain?.devices?.[one]?.some((device) => device.name === name));
    if (!list) {
      const present = hostDevicesOf(spec).map((device) => device.name);
      const { message } = deviceNotFound(ref.name, `host device ${name}`, present);
      return refusedChange(refusal('DEVICE_NOT_FOUND', message, 'Name one of its host devices.'));
    }
    const before = spec.domain?.devices?.[list];
    const after = before?.filter((device) => device.name !== name) ?? [];
    const step = { name: 'detach', detail: `The host device ${name} of ${ref.name}.` };
    return this.patched(state, { list, before, after, step, warnings: [] });
  }

  private patched(state: VmState, { list, before, after, step, warnings }: ListChange): PlannedPatch {
    const { vm, vmi } = state;
    const path = VM_PATHS[list];
    const [test, add] = replaceIfSame(path, before, after);
    const patch = [
      uidTest(vm.metadata.uid),
      ...(test ? [test] : []),
      // KubeVirt checks its feature gates even for an empty list.
      ...(after.length === 0 ? [{ op: 'remove', path } as const] : add ? [add] : []),
    ];
    const later = vmi ? ['The running VM keeps its devices until it is started again.'] : [];
    return patchedChange(this.deps, state, {
      effect: 'next-start',
      steps: [step],
      warnings: [...warnings, ...later],
      patch,
    });
  }
}

interface ListChange {
  readonly list: 'gpus' | 'hostDevices';
  readonly before: readonly PassedThroughDevice[] | undefined;
  readonly after: readonly PassedThroughDevice[];
  readonly step: { readonly name: string; readonly detail: string };
  readonly warnings: readonly string[];
}

function refusalOf({ name, usedBy, total }: HostDevice, reason: string) {
  if (total > 0 && usedBy.length > 0) return refusal('BUSY', `${name}: ${reason}`, 'Detach it from another VM first.');
  const remedy =
    total === 0 ? 'Install its device plugin on a node that has it.' : 'Enable it in the KubeVirt resource.';
  return refusal('WRONG_STATE', `${name}: ${reason}`, remedy);
}

/** A name by the rules of Kubernetes, such as `tu104gl-1` for `nvidia.com/TU104GL`. */
function freeName(resource: string, present: readonly string[]): string {
  const base = (resource.split('/').at(-1) ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_NAME_LENGTH);
  for (let number = 1; ; number++) {
    const name = `${base === '' ? 'device' : base}-${number}`;
    if (!present.includes(name)) return name;
  }
}
