import {
  appliedByRestart,
  deviceNotFound,
  DomainError,
  InstanceHardware,
  KeyedQueue,
  noChange,
  refusal,
  refusedChange,
  inOrder,
  throwFirstRefusal,
  type Hardware,
  type HardwareChange,
  type HardwareChangeGroup,
  type HardwarePlan,
  type HardwareResult,
  type IndexedHardwareChange,
  type InstanceRef,
  type Refusal,
  type SetBootOrderChange,
} from '@headgate/domain-contracts';
import type { JsonPatchOperation } from '../api/json-patch.js';
import { VIRTUAL_MACHINES } from '../api/resources.js';
import { isMigrating } from './live-changes.js';
import { HostDeviceChanges, type HostDeviceDeps } from './host-devices.js';
import { NicChanges } from './nics.js';
import { planPlacement } from './placement.js';
import { patchedChange } from './patched-change.js';
import { CombinedPatch, isPatch } from './combined-patch.js';
import { isTestFailure, replaceIfSame, VM_PATHS, type PlannedPatch } from './planned-change.js';
import { willStart } from '../power/power-requests.js';
import { planScale, uidTest } from './scale.js';
import { bootOrderOf, readHardware, readVmState, type VmState } from './vm-hardware.js';
import { VolumeChanges } from './volumes/volume-changes.js';

/** How often a change is planned again because another client has changed the VM meanwhile. */
const ATTEMPTS = 4;

/** Changes VMs through JSON patches that apply only to the VM as it was when the change was planned. */
export class KubeHardware extends InstanceHardware {
  private readonly volumes: VolumeChanges;
  private readonly nics: NicChanges;
  private readonly hostDevices: HostDeviceChanges;
  /** The changes of each claim, device or VM: each one is planned after the one before. */
  private readonly changes = new KeyedQueue();

  constructor(private readonly deps: HostDeviceDeps) {
    super();
    this.volumes = new VolumeChanges(deps);
    this.nics = new NicChanges(deps);
    this.hostDevices = new HostDeviceChanges(deps);
  }

  override async read(ref: InstanceRef): Promise<Hardware> {
    return readHardware(this.deps, await readVmState(this.deps, ref));
  }

  override async plan(ref: InstanceRef, change: HardwareChange): Promise<HardwarePlan> {
    const { plan, patch } = await this.prepare(ref, change);
    if (plan.refusals.length > 0 || !patch || plan.steps.length === 0) return plan;
    const refused = await this.rehearse(ref, patch);
    return refused ? { ...plan, refusals: [refused] } : plan;
  }

  /**
   * Volumes are objects of their own, and their changes are carried out one by one. All other changes are one patch of
   * the VM.
   */
  override async planAll(ref: InstanceRef, changes: readonly HardwareChange[]): Promise<HardwareChangeGroup[]> {
    const ordered = inOrder(changes);
    const alone: HardwareChangeGroup[] = [];
    for (const one of ordered.filter(({ change }) => !isPatch(change)))
      alone.push([{ ...one, plan: await this.plan(ref, one.change) }]);
    const together = ordered.filter(({ change }) => isPatch(change));
    if (together.length === 0) return alone;
    const group = await this.planGroup(ref, together);
    if (!group.some(({ plan }) => plan.effect === 'restart')) return [...alone, group];
    return [...alone.map((one) => one.map((each) => ({ ...each, plan: appliedByRestart(each.plan) }))), group];
  }

  override async applyGroup(ref: InstanceRef, changes: readonly HardwareChange[]): Promise<readonly HardwareResult[]> {
    const [first, ...others] = changes;
    if (!first || others.length === 0) return first ? [await this.apply(ref, first)] : [];
    const devices = changes.flatMap((one) => (one.kind === 'attach-host-device' ? [`device ${one.device}`] : []));
    const keys = [`vm ${ref.namespace}/${ref.name}`, ...devices.sort()];
    const work = async (): Promise<readonly HardwareResult[]> =>
      this.retried(ref, async () => {
        const { plans, run } = await this.combine(ref, changes);
        for (const plan of plans) throwFirstRefusal(plan);
        await run();
        return plans.map(({ effect }) => ({ effect }));
      });
    return keys.reduceRight((inner, key) => () => this.changes.run(key, inner), work)();
  }

  private async planGroup(ref: InstanceRef, group: readonly IndexedHardwareChange[]): Promise<HardwareChangeGroup> {
    const { plans, patch } = await this.combine(
      ref,
      group.map(({ change }) => change),
    );
    const isRefused = plans.some(({ refusals }) => refusals.length > 0);
    const refused = isRefused || patch.length === 0 ? undefined : await this.rehearse(ref, patch);
    return group.map((one, at) => {
      const plan = plans[at] ?? noChange.plan;
      return { ...one, plan: refused && at === 0 ? { ...plan, refusals: [refused] } : plan };
    });
  }

  private async combine(ref: InstanceRef, changes: readonly HardwareChange[]): Promise<CombinedPatch> {
    const state = await readVmState(this.deps, ref);
    const busy = isMigrating(state) ? migrating(ref) : undefined;
    return CombinedPatch.of(this.deps, state, changes, async (now, change) =>
      busy ? refusedChange(busy) : notWhileRestarting(state, await this.planOf(now, change)),
    );
  }

  /** The refusal of the cluster's admission, which may refuse what this service accepts. */
  private async rehearse(ref: InstanceRef, patch: readonly JsonPatchOperation[]): Promise<Refusal | undefined> {
    try {
      await this.deps.api.jsonPatch(VIRTUAL_MACHINES, ref, patch, { dryRun: true });
      return undefined;
    } catch (error) {
      // Another client has changed the VM meanwhile: the real request is planned again.
      if (isTestFailure(error)) return undefined;
      if (!DomainError.is(error, 'REJECTED_BY_BACKEND')) throw error;
      return refusal(error.code, error.message, 'Change what the cluster objects to.');
    }
  }

  override apply(ref: InstanceRef, change: HardwareChange): Promise<HardwareResult> {
    const claim = change.kind === 'attach-volume' && 'volume' in change.disk ? change.disk.volume : undefined;
    const key =
      change.kind === 'attach-host-device'
        ? `device ${change.device}`
        : claim === undefined
          ? `vm ${ref.namespace}/${ref.name}`
          : `claim ${ref.namespace}/${claim}`;
    return this.changes.run(key, () => this.applyInTurn(ref, change));
  }

  private applyInTurn(ref: InstanceRef, change: HardwareChange): Promise<HardwareResult> {
    return this.retried(ref, async () => {
      const { plan, run } = await this.prepare(ref, change);
      throwFirstRefusal(plan);
      return { effect: plan.effect, ...(await run()) };
    });
  }

  private async retried<T>(ref: InstanceRef, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!isTestFailure(error)) throw error;
        if (attempt >= ATTEMPTS) {
          throw new DomainError('CONFLICT', `${ref.name} was changed at the same time; try again.`, { cause: error });
        }
      }
    }
  }

  private async prepare(ref: InstanceRef, change: HardwareChange): Promise<PlannedPatch> {
    const state = await readVmState(this.deps, ref);
    if (isMigrating(state)) return refusedChange(migrating(ref));
    return notWhileRestarting(state, await this.planOf(state, change));
  }

  private async planOf(state: VmState, change: HardwareChange): Promise<PlannedPatch> {
    switch (change.kind) {
      case 'scale':
        return planScale(this.deps, state, change);
      case 'attach-volume':
        return this.volumes.attach(state, change);
      case 'detach-volume':
        return this.volumes.detach(state, change);
      case 'expand-volume':
        return this.volumes.expand(state, change);
      case 'change-medium':
        return this.volumes.changeMedium(state, change);
      case 'add-nic':
        return this.nics.add(state, change);
      case 'change-nic':
        return this.nics.change(state, change);
      case 'remove-nic':
        return this.nics.remove(state, change);
      case 'set-boot-order':
        return this.setBootOrder(state, change);
      case 'set-autostart':
        return refusedChange(
          refusal(
            'NOT_SUPPORTED',
            'A cluster keeps a VM running from the moment that it is started, also when its node fails.',
            'Start or stop the VM.',
          ),
        );
      case 'set-placement':
        return planPlacement(this.deps, state, change);
      case 'attach-host-device':
        return this.hostDevices.attach(state, change);
      case 'detach-host-device':
        return this.hostDevices.detach(state, change);
    }
  }

  private setBootOrder(state: VmState, { devices }: SetBootOrderChange): PlannedPatch {
    const { ref, spec, vm } = state;
    const { disks = [], interfaces = [] } = spec.domain?.devices ?? {};
    const present = [...disks, ...interfaces].map(({ name }) => name);
    const unknown = devices.find((device) => !present.includes(device));
    if (unknown !== undefined) {
      const { message } = deviceNotFound(ref.name, `device ${unknown}`, present);
      return refusedChange(refusal('DEVICE_NOT_FOUND', message, 'Name devices of the VM.'));
    }
    if (devices.length === 0 || new Set(devices).size !== devices.length) {
      const reason = 'devices must name at least one device, and none twice.';
      return refusedChange(refusal('INVALID_INPUT', reason, 'Name each device once.'));
    }
    if (devices.join() === bootOrderOf(spec).join()) return noChange;
    const ordered = <T extends { readonly name: string; readonly bootOrder?: number }>(list: readonly T[]): T[] =>
      list.map(({ bootOrder: _before, ...device }) => {
        const place = devices.indexOf(device.name);
        return { ...device, ...(place >= 0 && { bootOrder: place + 1 }) } as unknown as T;
      });
    const patch = [
      uidTest(vm.metadata.uid),
      ...replaceIfSame(VM_PATHS.disks, spec.domain?.devices?.disks, ordered(disks)),
      ...replaceIfSame(VM_PATHS.interfaces, spec.domain?.devices?.interfaces, ordered(interfaces)),
    ];
    const steps = [{ name: 'boot order', detail: `${ref.name} boots from ${devices.join(', ')}.` }];
    return patchedChange(this.deps, state, { effect: 'next-start', steps, patch });
  }
}

const migrating = ({ name }: InstanceRef): Refusal =>
  refusal('BUSY', `${name} is being migrated.`, 'Wait until that is done.');

/** KubeVirt would refuse the restart after the change. */
const notWhileRestarting = ({ vm, ref }: VmState, planned: PlannedPatch): PlannedPatch =>
  planned.plan.effect === 'restart' && willStart(vm)
    ? refusedChange(refusal('BUSY', `${ref.name} is being restarted.`, 'Wait until that is done.'))
    : planned;
