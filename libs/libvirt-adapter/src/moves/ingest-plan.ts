import {
  buildPlan,
  formatBytes,
  loss,
  type IngestPlan,
  type IngestSpec,
  type Loss,
  type PortableNic,
  type ResourceMapping,
  type VmSpec,
} from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { NicSpec } from '../domain-xml/domain-spec.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { GuestProfiles } from '../guest-profiles/guest-profile.js';
import { variablesTemplate } from '../host/firmware-descriptions.js';
import type { Host } from '../host/host.js';
import { OWN_NETWORK } from '../network/guest-network.js';
import { refuseName } from '../provisioning/creation-plan.js';
import { planPlatform, type Platform } from '../provisioning/plan-platform.js';
import type { Refuse } from '../provisioning/plan-source.js';
import { NO_DISC_WRITER } from '../seeds/seed-iso.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { variablesMismatch } from './firmware-variables.js';

export interface IngestPlanDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly describeHost: () => Promise<Host>;
  readonly profiles: GuestProfiles;
  readonly findDiscWriter: () => Promise<string | undefined>;
}

/** A plan, with the facts that were gathered for it. */
export interface PlannedIngest extends IngestPlan {
  readonly host: Host;
  readonly platform: Platform;
  /** The network cards; a card without a network is on the one that new VMs get. */
  readonly nics: readonly (Omit<NicSpec, 'network'> & { readonly name: string; readonly network?: string })[];
}

const WITHOUT_NETWORK = 'unless the machine can start a network for new VMs: none is active.';

/** Models of network cards that QEMU has on every architecture. */
const NIC_MODELS = ['virtio', 'e1000', 'e1000e', 'rtl8139'];

/** Checks everything that can be checked in advance. Changes nothing. */
export async function planIngest({ ref, vm, mapping }: IngestSpec, deps: IngestPlanDeps): Promise<PlannedIngest> {
  const refusals: IngestPlan['refusals'][number][] = [];
  const warnings: string[] = [];
  const refuse: Refuse = (code, reason, remedy) => void refusals.push({ code, reason, remedy });
  const [host, domains, writer, networks] = await Promise.all([
    deps.describeHost(),
    deps.finder.all(),
    deps.findDiscWriter(),
    deps.connection.networks.list('active'),
  ]);
  refuseName(ref, domains, refuse);
  if (host.isRemote)
    refuse('NOT_SUPPORTED', 'Disks of another machine are not written.', 'Run the service on that machine.');
  if (vm.arch !== '' && vm.arch !== host.arch)
    refuse(
      'NOT_SUPPORTED',
      `The VM is for ${vm.arch}, and this machine is ${host.arch}.`,
      'Choose another destination.',
    );
  const losses: Loss[] = [];
  const isKnown = vm.os !== undefined && (await deps.profiles.find(vm.os)) !== undefined;
  if (vm.os !== undefined && !isKnown)
    losses.push(loss('guest', `The profile of the guest's operating system ${vm.os}, which is not known here.`));
  const os = isKnown ? vm.os : undefined;
  const platform = await planPlatform(platformSpec({ ref, vm }, os), { host, profiles: deps.profiles }, refuse);
  if (vm.cloudInit !== undefined && writer === undefined) refuse('NOT_SUPPORTED', NO_DISC_WRITER, 'Install xorriso.');
  const availableBytes = await checkSpace({ vm, pool: deps.pool, warnings }, refuse);
  const nics = vm.nics.map((nic) => planNic(nic, { mapping, networks, warnings }, refuse));
  if (host.network === undefined)
    for (const { name, network } of nics)
      if (network === undefined) losses.push(loss('devices', `The network card ${name}, ${WITHOUT_NETWORK}`));
  for (const name of Object.keys(mapping.storageClasses))
    warnings.push(`The mapping of the storage class ${name} has no effect: a machine has one storage pool.`);
  if (host.accelerator === 'tcg')
    warnings.push('KVM is not available on the machine, so the VM uses software emulation, which is slow.');
  if (host.memoryBytes > 0 && vm.memoryBytes > host.memoryBytes)
    warnings.push('The VM gets more memory than the machine has.');
  const steps = [
    { name: 'define', detail: `Define the VM ${ref.name} in libvirt, which can't be started yet.` },
    ...vm.disks.map(({ name, sizeBytes }) => ({
      name: 'disk',
      detail: `Create the disk ${name} of ${formatBytes(sizeBytes)} in the storage pool ${deps.pool.name}.`,
    })),
    ...(vm.cloudInit === undefined ? [] : [{ name: 'seed', detail: 'Write the cloud-init seed.' }]),
  ];
  return {
    ...buildPlan(steps, { warnings, refusals }),
    losses,
    firmwareVariables: await variablesVerdict(vm, host),
    format: 'qcow2',
    ...(availableBytes !== undefined && { availableBytes }),
    host,
    platform,
    nics,
  };
}

/** The spec of a VM with the same platform. */
const platformSpec = ({ ref, vm }: Pick<IngestSpec, 'ref' | 'vm'>, os: string | undefined): VmSpec => ({
  ref,
  ...(os !== undefined && { os }),
  cpu: vm.cpu,
  memoryBytes: vm.memoryBytes,
  diskBytes: vm.disks[0]?.sizeBytes ?? 0,
  source: { kind: 'pvc', claim: '' },
  firmware: vm.firmware,
  tpm: vm.tpm,
  start: false,
});

/** The variables are those of a certain build of the firmware: another one does not start with them. */
async function variablesVerdict({ firmware, firmwareVariables }: IngestSpec['vm'], host: Host): Promise<true | string> {
  if (!firmwareVariables || 'problem' in firmwareVariables) return true;
  const template = await variablesTemplate({ arch: host.arch, isSecure: firmware === 'uefi-secure' });
  return (await variablesMismatch(firmwareVariables.sizeBytes, template)) ?? true;
}

/** @returns how many bytes of disks fit; undefined when that is unknown */
async function checkSpace(
  { vm, pool, warnings }: { vm: IngestSpec['vm']; pool: StoragePool; warnings: string[] },
  refuse: Refuse,
): Promise<number | undefined> {
  const space = await pool.space();
  if (!space?.isActive) return undefined;
  const sizeBytes = vm.disks.reduce((sum, disk) => sum + disk.sizeBytes, 0);
  const usedBytes = vm.disks.reduce((sum, disk) => sum + (disk.usedBytes ?? disk.sizeBytes), 0);
  if (space.availableBytes < usedBytes + SPACE_WATERMARK_BYTES) {
    refuse(
      'INSUFFICIENT_STORAGE',
      `The storage pool ${pool.name} has only ${formatBytes(space.availableBytes)} free, and the disks have up to ${formatBytes(usedBytes)} of data.`,
      `Free some space on the machine: ${formatBytes(SPACE_WATERMARK_BYTES)} must remain free.`,
    );
  } else if (space.availableBytes < sizeBytes) {
    warnings.push(`The disks may grow to ${formatBytes(sizeBytes)}, more than the free space in the storage pool.`);
  }
  return Math.max(0, space.availableBytes - SPACE_WATERMARK_BYTES);
}

function planNic(
  { name, network, mac, model }: PortableNic,
  { mapping, networks, warnings }: { mapping: ResourceMapping; networks: readonly string[]; warnings: string[] },
  refuse: Refuse,
): PlannedIngest['nics'][number] {
  const mapped = mapping.networks[network];
  const wanted = mapped ?? (networks.includes(network) ? network : undefined);
  if (mapped !== undefined && !networks.includes(mapped))
    refuse(
      'INVALID_INPUT',
      `mapping.networks: there is no active network ${mapped}.`,
      `Use one of ${networks.join(', ') || OWN_NETWORK}.`,
    );
  else if (wanted === undefined && network !== '')
    warnings.push(`The card ${name} gets the network of new VMs, because ${network} does not exist here.`);
  return {
    name,
    ...(wanted !== undefined && { network: wanted }),
    ...(mac !== '' && { mac }),
    ...(NIC_MODELS.includes(model) && { model }),
  };
}
