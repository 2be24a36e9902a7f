import {
  formatBytes,
  hugepageRefusals,
  MEMORY_RULE,
  noChange,
  plannedChange,
  refusal,
  refusedChange,
  type Clock,
  type PlannedChange,
  type PlanStep,
  type Refusal,
  type ScaleChange,
} from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { readHostTopology } from '../host-resources/host-topology.js';
import type { Host } from '../host/host.js';
import type { DomainHardware } from './domain-hardware.js';
import { hasMemoryDevices, numaCellsOf, withSize } from './edit-domain-xml.js';
import { readPlacement } from './read-placement.js';
import type { Restarts } from './restarts.js';

export interface ScaleDeps {
  readonly connection: LibvirtConnection;
  readonly describeHost: () => Promise<Host>;
  readonly restarts: Restarts;
  readonly clock: Clock;
}

/**
 * A VM whose maximum has to be raised can grow to this multiple of its new size, as far as the machine has that much.
 */
const GROWTH_FACTOR = 4;
const MEMORY_STEP_BYTES = 2 * 1024 ** 2;

/**
 * CPUs can be added to a running guest, up to the maximum that it was started with. Fewer CPUs and other memory need a
 * restart: a guest must agree to give them back, and memory modules would have to stay plugged in for ever.
 */
export async function planScale(domain: DomainHardware, change: ScaleChange, deps: ScaleDeps): Promise<PlannedChange> {
  const { id, state, live, config } = domain;
  const [host, xml] = await Promise.all([deps.describeHost(), deps.connection.domains.persistentXml(id.uuid)]);
  const cpu = change.cpu ?? config.description.cpu;
  const wantedBytes = change.memoryBytes ?? config.description.memoryBytes;
  const memoryBytes = Math.ceil(wantedBytes / MEMORY_STEP_BYTES) * MEMORY_STEP_BYTES;
  const refusals = [
    ...sizeRefusals(domain, change, { host, xml }),
    ...(change.memoryBytes === undefined ? [] : await pageRefusals(domain, memoryBytes, change.restart, deps)),
  ];
  if (refusals.length > 0) return refusedChange(...refusals);

  const hasOtherCpu = cpu !== config.description.cpu;
  const hasOtherMemory = change.memoryBytes !== undefined && memoryBytes !== config.description.memoryBytes;
  const isLiveAsWanted =
    !state.isActive ||
    (cpu === live.description.cpu && (!hasOtherMemory || memoryBytes === live.description.memoryBytes));
  if (!hasOtherCpu && !hasOtherMemory && isLiveAsWanted) return noChange;

  const isLive = state.isActive && !hasOtherMemory && cpu >= live.description.cpu && cpu <= live.maxCpu;
  const effect = isLive ? 'now' : deps.restarts.effectOf(domain, change.restart);
  const store = (): Promise<void> =>
    deps.connection.domains.define(
      withSize(xml, {
        cpu,
        maxCpu: cpu <= config.maxCpu ? config.maxCpu : grown(cpu, Math.min(host.cpus, host.features.maxVcpus)),
        memoryBytes,
        ...maximumMemory(config.maxMemoryBytes, memoryBytes, host),
      }),
    );
  const steps: PlanStep[] = [
    ...(hasOtherCpu || isLive
      ? [{ name: 'cpu', detail: `${id.name} gets ${cpu} CPUs${isLive ? ' while it runs' : ''}.` }]
      : []),
    ...(hasOtherMemory ? [{ name: 'memory', detail: `${id.name} gets ${formatBytes(memoryBytes)} of memory.` }] : []),
    ...(effect === 'restart' ? deps.restarts.steps(id.name) : []),
  ];
  const warnings =
    effect === 'next-start' && state.isActive ? ['The running VM keeps its size until it is started again.'] : [];
  if (isLive) {
    const scope = { inLiveDomain: true, inPersistentDomain: true };
    return plannedChange({ effect, steps, warnings, run: () => deps.connection.domains.setCpus(id.uuid, cpu, scope) });
  }
  return plannedChange({
    effect,
    steps,
    warnings,
    run: () => (effect === 'restart' ? deps.restarts.run(id, store) : store()),
  });
}

/** Sizes that are impossible on this machine, or in this domain. */
function sizeRefusals(
  { id, config }: DomainHardware,
  { cpu, memoryBytes }: ScaleChange,
  { host, xml }: { readonly host: Host; readonly xml: string },
): Refusal[] {
  const refusals: Refusal[] = [];
  const maxCpu = Math.max(Math.min(host.cpus, host.features.maxVcpus), config.maxCpu);
  if (cpu !== undefined && (!Number.isInteger(cpu) || cpu < 1 || cpu > maxCpu)) {
    refusals.push(
      refusal(
        'INVALID_INPUT',
        `cpu: ${id.name} can have 1 to ${maxCpu} CPUs on this machine, not ${cpu}.`,
        `Use 1 to ${maxCpu}.`,
      ),
    );
  }
  if (cpu !== undefined && cpu > config.maxCpu && numaCellsOf(xml) > 1) {
    const reason = `cpu: ${id.name} divides its ${config.maxCpu} CPUs among NUMA nodes, so it can't have ${cpu}.`;
    refusals.push(refusal('NOT_SUPPORTED', reason, 'Remove its NUMA nodes first.'));
  }
  if (memoryBytes === undefined) return refusals;
  const maxBytes = Math.max(host.memoryBytes, config.description.memoryBytes);
  if (!Number.isSafeInteger(memoryBytes) || memoryBytes < MEMORY_RULE.minBytes || memoryBytes > maxBytes) {
    const limits = `${formatBytes(MEMORY_RULE.minBytes)} to ${formatBytes(maxBytes)}`;
    refusals.push(
      refusal('INVALID_QUANTITY', `mem: ${id.name} can have ${limits} of memory on this machine.`, `Use ${limits}.`),
    );
  }
  if (numaCellsOf(xml) > 1 || hasMemoryDevices(xml)) {
    refusals.push(
      refusal(
        'NOT_SUPPORTED',
        `mem: ${id.name} divides its memory among NUMA nodes or modules, which this service does not change.`,
        'Change its memory with virsh.',
      ),
    );
  }
  return refusals;
}

/** Memory in hugepages consists of whole pages, which the host must have reserved. */
async function pageRefusals(
  { id, state, config }: DomainHardware,
  memoryBytes: number,
  isRestarting: boolean,
  { connection }: ScaleDeps,
): Promise<Refusal[]> {
  const placement = readPlacement(config.description.document);
  if (placement.hugepageBytes === null) return [];
  const host = await readHostTopology(connection);
  const limits = { name: id.name, maxCpu: config.maxCpu, memoryBytes, host };
  return hugepageRefusals(placement, limits, state.isActive && isRestarting);
}

/** The maximum follows the size where the domain has one. */
function maximumMemory(present: number | null, memoryBytes: number, host: Host): { maxMemoryBytes?: number } {
  if (present === null) return {};
  if (memoryBytes <= present) return { maxMemoryBytes: present };
  const limit = grown(memoryBytes, host.memoryBytes);
  return { maxMemoryBytes: Math.floor(limit / MEMORY_STEP_BYTES) * MEMORY_STEP_BYTES };
}

const grown = (value: number, limit: number): number => Math.max(value, Math.min(value * GROWTH_FACTOR, limit));
