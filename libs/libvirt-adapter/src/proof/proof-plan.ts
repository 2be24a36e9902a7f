import {
  buildPlan,
  formatBytes,
  type BootRequest,
  type Plan,
  type Refusal,
  type RunningProofs,
} from '@headgate/domain-contracts';
import type { GuestProfiles } from '../guest-profiles/guest-profile.js';
import type { Host } from '../host/host.js';
import { planPlatform, type Platform } from '../provisioning/plan-platform.js';
import type { Refuse } from '../provisioning/plan-source.js';
import { checkServedDisks, type ServedDisksDeps } from '../storage/served-disks.js';
import type { VolumeOwner } from '../storage/storage-pool.js';
import { proofNames, PROOF_SOCKETS } from '../domains/proof-names.js';

export interface ProofPlanDeps extends ServedDisksDeps {
  readonly profiles: GuestProfiles;
}

/** A plan, with the facts that were gathered for it. */
export interface PlannedProof {
  readonly plan: Plan;
  readonly host: Host;
  readonly platform: Platform;
  /** Absent if QEMU runs as the user of libvirt. */
  readonly owner?: VolumeOwner;
}

/** QEMU needs it besides the memory of the guest. */
const OVERHEAD_BYTES = 128 * 1024 ** 2;
const MAX_DISKS = 24;

/** @param running the guests of other proofs may not have touched their memory yet */
export async function planProof(
  { id, vm }: BootRequest,
  deps: ProofPlanDeps,
  running: RunningProofs,
): Promise<PlannedProof> {
  const { context } = deps;
  const served = await checkServedDisks(deps, `${proofNames(id).folder}/${PROOF_SOCKETS.disks}`);
  const { host, owner, memoryUsedBytes } = served;
  const refusals: Refusal[] = [...served.refusals, ...running.refusals(context, id)];
  const refuse: Refuse = (code, reason, remedy) => void refusals.push({ code, reason, remedy });
  if (vm.arch !== '' && vm.arch !== host.arch)
    refuse('NOT_SUPPORTED', `The VM is for ${vm.arch}, and ${context} is ${host.arch}.`, 'Choose another context.');
  if (vm.disks.length === 0 || vm.disks.length > MAX_DISKS)
    refuse('NOT_SUPPORTED', `The VM has ${vm.disks.length} disks.`, `Proofs boot 1 to ${MAX_DISKS} disks.`);
  const profile = vm.os !== undefined && (await deps.profiles.find(vm.os)) !== undefined ? vm.os : undefined;
  const platform = await planPlatform(
    {
      ref: { kind: 'vm', context, namespace: '', name: proofNames(id).domain },
      ...(profile !== undefined && { os: profile }),
      cpu: vm.cpu,
      memoryBytes: vm.memoryBytes,
      diskBytes: vm.disks[0]?.sizeBytes ?? 0,
      source: { kind: 'pvc', claim: '' },
      firmware: vm.firmware,
      tpm: vm.tpm,
      start: false,
    },
    { host, profiles: deps.profiles },
    refuse,
  );
  const promised = running.memoryOfOthers(id).reduce((sum, bytes) => sum + bytes + OVERHEAD_BYTES, 0);
  const freeBytes = Math.max(0, host.memoryBytes - memoryUsedBytes - promised);
  if (host.memoryBytes > 0 && vm.memoryBytes + OVERHEAD_BYTES > freeBytes)
    refuse(
      'WRONG_STATE',
      `${context} has ${formatBytes(freeBytes)} of memory free, and the VM needs ${formatBytes(vm.memoryBytes)}.`,
      'Stop a VM there, or prove the backup on another context.',
    );
  const warnings = [
    ...(vm.tpm ? ['The VM gets a new TPM: a disk that is encrypted for the original one does not open.'] : []),
    ...(host.accelerator === 'tcg' ? ['KVM is not available on the machine, so the VM boots slowly.'] : []),
  ];
  const steps = [
    {
      name: 'boot',
      detail: `Boot the backup in ${context} without a network, as a guest that is removed afterwards. Nothing is copied.`,
    },
  ];
  return { plan: buildPlan(steps, { refusals, warnings }), host, platform, ...(owner && { owner }) };
}
