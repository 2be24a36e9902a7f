import { DomainError, type HardwareEffect, type InstanceRef } from '@headgate/domain-contracts';
import { KubeApiError } from '../api/kube-api-error.js';
import { conditionOf, isTrue } from '../api/kube-object.js';
import type { Condition, KubeObject } from '../api/kube-object.js';
import type { VmiObject, VmObject } from '../api/object-types.js';
import { MIGRATIONS, subresourcePath, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import { LABEL } from '../labels.js';
import { findTarget } from '../migration/find-target.js';
import { isRequested } from '../power/requested-action.js';
import type { HardwareDeps, VmState } from './vm-hardware.js';

const POLL_MS = 200;
/** KubeVirt applies a change of a VM to its running guest, or reports why not, within a moment. */
const OBSERVE_TIMEOUT_MS = 10_000;
const RESTART_TIMEOUT_MS = 150_000;

export const isRunning = ({ vmi }: VmState): boolean => vmi?.status?.phase === 'Running';

export const isMigrating = ({ vmi, vm }: VmState): boolean => {
  const { migrationState } = vmi?.status ?? {};
  const isUnderWay = Boolean(migrationState?.startTimestamp) && !migrationState?.completed && !migrationState?.failed;
  const isMovingDisk = isTrue(vmi?.status?.conditions, 'VolumesChange');
  return isUnderWay || isMovingDisk || vm.status?.printableStatus === 'Migrating';
};

/**
 * Whether KubeVirt applies no change to the running guest until it is restarted. Volumes that are added by requests are
 * an exception.
 */
export const awaitsRestart = ({ vm, vmi }: VmState): boolean =>
  vmi !== undefined && isTrue(vm.status?.conditions, 'RestartRequired');

/** Whether the cluster completes changes of running guests by migrations of its own. */
export const migratesAutomatically = ({ facts }: VmState): boolean =>
  facts.kubevirt?.spec?.workloadUpdateStrategy?.workloadUpdateMethods?.includes('LiveMigrate') === true;

/** Whether a migration can complete a change of the running guest. */
export async function canMigrate(deps: HardwareDeps, { vmi }: VmState): Promise<boolean> {
  if (!vmi || !isTrue(vmi.status?.conditions, 'LiveMigratable')) return false;
  try {
    await findTarget(deps, vmi);
    return true;
  } catch (error) {
    if (DomainError.is(error, 'WRONG_STATE')) return false;
    throw error;
  }
}

/**
 * Waits until KubeVirt has applied a change to the running guest, or requires a restart for it.
 * @returns whether it was applied
 * @throws DomainError REJECTED_BY_BACKEND with KubeVirt's reason; BUSY when a migration has begun meanwhile
 */
export async function observe(
  deps: HardwareDeps,
  ref: InstanceRef,
  isApplied: (vmi: VmiObject) => boolean,
): Promise<boolean> {
  const { api, clock } = deps;
  const began = clock.now();
  for (;;) {
    const [vm, vmi] = await Promise.all([
      api.find<VmObject>(VIRTUAL_MACHINES, ref),
      api.find<VmiObject>(VM_INSTANCES, ref),
    ]);
    if (!vm || !vmi) return false;
    if (isTrue(vm.status?.conditions, 'RestartRequired')) return false;
    if (isApplied(vmi)) return true;
    const failure = conditionOf(vm.status?.conditions, 'Failure');
    if (failure?.status === 'True' && /^HotPlug/.test(failure.reason ?? '')) throw failedChange(ref, failure);
    if (clock.now() - began > OBSERVE_TIMEOUT_MS) return false;
    await clock.delay(POLL_MS);
  }
}

/** A migration that began after the request was checked, such as one that completes another change. */
const IN_PROGRESS = /migration is in progress|while VMI is migrating|another \w+ hotplug is in progress/;

function failedChange({ name }: InstanceRef, { reason, message = reason }: Condition): DomainError {
  return IN_PROGRESS.test(message ?? '')
    ? new DomainError('BUSY', `${name} is being migrated; try again when that is done.`)
    : new DomainError('REJECTED_BY_BACKEND', message ?? 'KubeVirt refused the change.');
}

/**
 * A migration that runs already applies the change, too, and a guest that has ended meanwhile has it when it is started
 * again.
 */
const NOT_NEEDED = /in-flight migration detected|Cannot migrate VMI in finalized state|the VMI \S+ does not exist/;

/** Starts the migration that completes a change, unless the cluster does it. */
export async function migrateToApply({ api }: HardwareDeps, state: VmState): Promise<void> {
  if (migratesAutomatically(state)) return;
  const { namespace, name } = state.ref;
  const metadata = { generateName: `apply-${name}-`, namespace, labels: { [LABEL.vm]: name } };
  try {
    await api.create(MIGRATIONS, { metadata, spec: { vmiName: name } } as KubeObject);
  } catch (error) {
    if (!(error instanceof KubeApiError) || !NOT_NEEDED.test(error.response.text)) throw error;
  }
}

/**
 * When a change takes effect that the guest can't get while it runs. KubeVirt refuses to restart a VM that is being
 * stopped.
 */
export const effectOf = ({ vmi, isStopping }: VmState, change: { readonly restart: boolean }): HardwareEffect =>
  vmi && change.restart && !isStopping ? 'restart' : 'next-start';

/** Stops and starts a running VM, which the cluster completes even if this service ends meanwhile. */
export async function restart({ api, clock }: HardwareDeps, { ref, vmi }: VmState): Promise<void> {
  const path = subresourcePath(ref.namespace, 'virtualmachines', ref.name, 'restart');
  await api.invoke(path, {}, isRequested(api, ref, 'restart', vmi));
  const began = clock.now();
  for (;;) {
    const now = await api.find<VmiObject>(VM_INSTANCES, ref);
    if (now?.status?.phase === 'Running' && now.metadata.uid !== vmi?.metadata.uid) return;
    if (clock.now() - began > RESTART_TIMEOUT_MS) {
      throw new DomainError(
        'BACKEND_TIMEOUT',
        `${ref.name} is configured and being restarted, but did not run again within ${RESTART_TIMEOUT_MS / 1000} s.`,
      );
    }
    await clock.delay(POLL_MS);
  }
}

/**
 * Waits until KubeVirt has compared the changed VM with its running guest, so that a reader sees whether a restart is
 * required, or the guest has ended. No restart is required when the change takes back an earlier one that waited for a
 * restart.
 */
export async function untilCompared({ api, clock }: HardwareDeps, ref: InstanceRef): Promise<void> {
  const began = clock.now();
  for (;;) {
    const [vm, vmi] = await Promise.all([
      api.find<VmObject>(VIRTUAL_MACHINES, ref),
      api.find<VmiObject>(VM_INSTANCES, ref),
    ]);
    if (!vm || !vmi || isTrue(vm.status?.conditions, 'RestartRequired')) return;
    const { desiredGeneration } = vm.status ?? {};
    if (desiredGeneration !== undefined && desiredGeneration === vm.metadata.generation) return;
    if (clock.now() - began > OBSERVE_TIMEOUT_MS) return;
    await clock.delay(POLL_MS);
  }
}
