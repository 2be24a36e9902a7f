import {
  changedPlacement,
  formatBytes,
  formatCpuSet,
  hugepageRefusals,
  hugepageWarnings,
  messageOf,
  noChange,
  parseCpuSet,
  pinningRefusals,
  plannedChange,
  refusal,
  refusedChange,
  type CpuPinning,
  type HardwareEffect,
  type HostTopology,
  type Log,
  type Placement,
  type PlannedChange,
  type PlanStep,
  type Refusal,
  type SetPlacementChange,
} from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../../connection/libvirt-connection.js';
import { readHostTopology } from '../../host-resources/host-topology.js';
import type { DomainHardware } from '../domain-hardware.js';
import type { Restarts } from '../restarts.js';
import { withPlacement } from './edit-placement-xml.js';
import { describeMemory, describePins, effectivePins, foreignNumaSettings, readPlacement } from '../read-placement.js';

export interface PlacementDeps {
  readonly connection: LibvirtConnection;
  readonly restarts: Restarts;
  readonly log: Log;
}

type Pins = Pick<CpuPinning, 'vcpus' | 'emulatorCpus'>;

/**
 * Pins of CPUs change while the guest runs. NUMA nodes and pages are part of the memory, which is allocated at the
 * start.
 */
export async function planPlacement(
  domain: DomainHardware,
  change: SetPlacementChange,
  deps: PlacementDeps,
): Promise<PlannedChange> {
  const { id, state, live, config } = domain;
  const host = await readHostTopology(deps.connection);
  const [before, running] = [config, live].map(({ description }) => readPlacement(description.document)) as [
    Placement & { pinning: CpuPinning },
    Placement & { pinning: CpuPinning },
  ];
  const after = changedPlacement(before, change) as typeof before;
  const refusals = placementRefusals(domain, change, { host, after });
  if (refusals.length > 0) return refusedChange(...refusals);

  const pinsOf = ({ pinning }: typeof before): Pins => effectivePins(pinning, host.cpus);
  const hasOtherPins = !isSame(pinsOf(after), pinsOf(before));
  const hasOtherLivePins = state.isActive && !isSame(pinsOf(after), pinsOf(running));
  const hasOtherMemory = !isSame(memoryOf(after), memoryOf(before));
  if (!hasOtherPins && !hasOtherLivePins && !hasOtherMemory) return noChange;

  const isLive = state.isActive && !hasOtherMemory;
  const effect: HardwareEffect = isLive ? 'now' : deps.restarts.effectOf(domain, change.restart);
  const store = async (): Promise<void> => {
    const xml = await deps.connection.domains.persistentXml(id.uuid);
    const whole = { maxCpu: config.maxCpu, memoryBytes: config.description.memoryBytes };
    await deps.connection.domains.define(withPlacement(xml, { ...change, whole }));
  };
  const pins = { before: pinsOf(running), after: pinsOf(after), host, cpu: live.description.cpu };
  const run = async (): Promise<void> => {
    if (effect === 'restart') return deps.restarts.run(id, store);
    if (!isLive) return store();
    await pinLive(id.uuid, pins, deps);
    try {
      await store();
    } catch (error) {
      await pinLive(id.uuid, { ...pins, before: pins.after, after: pins.before }, deps).catch((cause: unknown) =>
        deps.log.warn({ domain: id.name, reason: messageOf(cause) }, 'the pins of a VM could not be restored'),
      );
      throw error;
    }
  };
  const limits = limitsOf(domain, host);
  const warnings = [
    ...(effect === 'next-start' && state.isActive
      ? ['The running VM keeps its placement until it is started again.']
      : []),
    ...(effect === 'next-start' ? hugepageWarnings(after, limits) : []),
  ];
  const steps = [...stepsOf(id.name, change, isLive), ...(effect === 'restart' ? deps.restarts.steps(id.name) : [])];
  return plannedChange({ effect, steps, warnings, run });
}

const limitsOf = ({ id, config }: DomainHardware, host: HostTopology) => ({
  name: id.name,
  maxCpu: config.maxCpu,
  memoryBytes: config.description.memoryBytes,
  host,
});

function placementRefusals(
  domain: DomainHardware,
  change: SetPlacementChange,
  { host, after }: { readonly host: HostTopology; readonly after: Placement },
): Refusal[] {
  const { id, state, config } = domain;
  const { pinning, hugepageBytes } = change;
  if (change.dedicated) {
    return [
      refusal(
        'NOT_SUPPORTED',
        'dedicated: libvirt does not reserve CPUs for single VMs.',
        'Name CPUs of the host in pinning, and keep other VMs away from them.',
      ),
    ];
  }
  const limits = limitsOf(domain, host);
  const refusals = pinningRefusals(pinning ?? {}, limits);
  if (pinning?.cells !== undefined || pinning?.memory !== undefined) {
    const foreign = foreignNumaSettings(config.description.document);
    if (foreign.length > 0) {
      refusals.push(
        refusal(
          'NOT_SUPPORTED',
          `pinning: ${id.name} has ${foreign.join(' and ')}, which this service does not change.`,
          'Change its NUMA nodes with virsh.',
        ),
      );
    }
  }
  // Pages are needed for other memory, too.
  if (refusals.length > 0 || (hugepageBytes === undefined && pinning?.cells === undefined)) return refusals;
  return hugepageRefusals(after, limits, state.isActive && change.restart);
}

const memoryOf = ({ pinning, hugepageBytes }: Placement): unknown => [pinning?.memory, pinning?.cells, hugepageBytes];

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

interface LivePins {
  readonly before: Pins;
  readonly after: Pins;
  readonly host: HostTopology;
  /** The CPUs that are plugged in: only they have a thread. */
  readonly cpu: number;
}

/** libvirt has no call that removes a pin: all CPUs of the host are the same. */
async function pinLive(
  uuid: string,
  { before, after, host, cpu }: LivePins,
  { connection }: PlacementDeps,
): Promise<void> {
  const cpusOf = ({ vcpus }: Pins, vcpu: number): string => vcpus.find((pin) => pin.vcpu === vcpu)?.cpus ?? host.cpus;
  const numbers = (cpus: string): number[] => parseCpuSet(cpus, 'cpus');
  for (let vcpu = 0; vcpu < cpu; vcpu++) {
    const wanted = cpusOf(after, vcpu);
    if (wanted !== cpusOf(before, vcpu)) await connection.domains.pinVcpu(uuid, vcpu, numbers(wanted));
  }
  if (after.emulatorCpus !== before.emulatorCpus) {
    await connection.domains.pinEmulator(uuid, numbers(after.emulatorCpus || host.cpus));
  }
}

function stepsOf(name: string, { pinning = {}, hugepageBytes }: SetPlacementChange, isLive: boolean): PlanStep[] {
  const { vcpus, emulatorCpus, memory, cells } = pinning;
  const at = isLive ? ' while it runs' : '';
  const normal = vcpus?.map(({ vcpu, cpus }) => ({ vcpu, cpus: formatCpuSet(parseCpuSet(cpus, 'cpus')) }));
  return [
    ...(normal === undefined
      ? []
      : [
          {
            name: 'pin',
            detail:
              normal.length === 0
                ? `The CPUs of ${name} run on any CPU of the host${at}.`
                : `The CPUs of ${name} run on CPUs of the host${at}: ${describePins(normal)}.`,
          },
        ]),
    ...(emulatorCpus === undefined
      ? []
      : [{ name: 'emulator', detail: `The emulator of ${name} runs on ${emulatorCpus === '' ? 'any CPU' : `CPU ${emulatorCpus}`}${at}.` }]), // prettier-ignore
    ...(memory === undefined
      ? []
      : [
          {
            name: 'memory',
            detail: memory
              ? `The memory of ${name} comes from NUMA nodes of the host: ${describeMemory({ memory } as CpuPinning)}.`
              : `The memory of ${name} comes from any NUMA node of the host.`,
          },
        ]),
    ...(cells === undefined
      ? []
      : [{ name: 'numa', detail: cells.length === 0 ? `${name} has no NUMA nodes.` : `${name} has ${cells.length} NUMA nodes.` }]), // prettier-ignore
    ...(hugepageBytes === undefined
      ? []
      : [
          {
            name: 'pages',
            detail: `The memory of ${name} has ${hugepageBytes === null ? 'ordinary pages' : `pages of ${formatBytes(hugepageBytes)}`}.`,
          },
        ]),
  ];
}
