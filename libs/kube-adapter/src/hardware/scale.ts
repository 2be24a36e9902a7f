import {
  formatBytes,
  MEMORY_RULE,
  noChange,
  parseKubernetesBytes,
  parseMillicores,
  refusal,
  refusedChange,
  type Refusal,
  type ScaleChange,
} from '@headgate/domain-contracts';
import { conditionOf } from '../api/kube-object.js';
import type { NodeObject, VmiObject } from '../api/object-types.js';
import { NODES } from '../api/resources.js';
import type { JsonPatchOperation } from '../api/json-patch.js';
import { bytesOf } from '../inventory/guest-size.js';
import { canMigrate, effectOf, isRunning } from './live-changes.js';
import { patchedChange } from './patched-change.js';
import { VM_PATHS, type PlannedPatch } from './planned-change.js';
import type { HardwareDeps, VmState } from './vm-hardware.js';

const MAX_CPUS = 512;
/** KubeVirt requests a tenth of a core for each virtual CPU by default. */
const CPU_ALLOCATION_RATIO = 10;
const BLOCK_BYTES = 2 * 1024 ** 2;
const GIB = 1024 ** 3;
/** A VM whose maximum has to be raised can grow to this multiple of its new size, as KubeVirt chooses it. */
const GROWTH_FACTOR = 4;

interface Wanted {
  readonly sockets: number;
  readonly perSocket: number;
  readonly memoryBytes: number;
}

/**
 * Only `cpu.sockets` and `memory.guest` are patched, which are the fields that KubeVirt can change in a running guest.
 * VMs that were created with a maximum of their own get a higher one in the same patch, which needs a restart.
 */
export async function planScale(deps: HardwareDeps, state: VmState, change: ScaleChange): Promise<PlannedPatch> {
  const { ref, spec, size, vm } = state;
  const { cores = 1, threads = 1 } = spec.domain?.cpu ?? {};
  const perSocket = cores * threads;
  const memoryBytes = Math.ceil((change.memoryBytes ?? size.memoryBytes) / BLOCK_BYTES) * BLOCK_BYTES;
  const cpu = change.cpu ?? size.cpu;
  const refusals = await sizeRefusals(deps, state, { ...change, perSocket });
  if (refusals.length > 0) return refusedChange(...refusals);
  const hasOtherCpu = cpu !== size.cpu;
  const hasOtherMemory = change.memoryBytes !== undefined && memoryBytes !== size.memoryBytes;
  if (!hasOtherCpu && !hasOtherMemory) return noChange;

  const wanted: Wanted = { sockets: Math.ceil(cpu / perSocket), perSocket, memoryBytes };
  const { patch, raisesMaximum } = patchOf(state, wanted, { hasOtherCpu, hasOtherMemory });
  const mayBeLive = isRunning(state) && !state.isStopping && !raisesMaximum;
  const isLive = mayBeLive && (await canScaleLive(deps, state, wanted, hasOtherMemory));
  const effect = isLive ? 'now' : effectOf(state, change);
  const steps = [
    ...(hasOtherCpu ? [{ name: 'cpu', detail: `${ref.name} gets ${cpu} CPUs.` }] : []),
    ...(hasOtherMemory ? [{ name: 'memory', detail: `${ref.name} gets ${formatBytes(memoryBytes)} of memory.` }] : []),
    ...(isLive ? [{ name: 'migrate', detail: 'A live migration applies the change to the running guest.' }] : []),
    ...(effect === 'restart' ? [{ name: 'restart', detail: `Shut down ${ref.name} and start it again.` }] : []),
  ];
  const warnings =
    effect === 'next-start' && state.vmi ? ['The running VM keeps its size until it is started again.'] : [];
  const isApplied = ({ spec: live }: VmiObject): boolean => {
    const isCpu = !hasOtherCpu || live?.domain?.cpu?.sockets === wanted.sockets;
    return isCpu && (!hasOtherMemory || bytesOf(live?.domain?.memory?.guest) === memoryBytes);
  };
  return patchedChange(deps, state, {
    effect,
    steps,
    warnings,
    patch: [uidTest(vm.metadata.uid), ...patch],
    ...(isLive && { isApplied, restartsInstead: change.restart }),
  });
}

/** The VM may have been deleted and created again under its name. */
export const uidTest = (uid: string | undefined): JsonPatchOperation => ({
  op: 'test',
  path: '/metadata/uid',
  value: uid ?? null,
});

function patchOf(
  { spec }: VmState,
  { sockets, memoryBytes }: Wanted,
  { hasOtherCpu, hasOtherMemory }: { readonly hasOtherCpu: boolean; readonly hasOtherMemory: boolean },
): { readonly patch: readonly JsonPatchOperation[]; readonly raisesMaximum: boolean } {
  const { cpu, memory } = spec.domain ?? {};
  const patch: JsonPatchOperation[] = [];
  let raisesMaximum = false;
  if (hasOtherCpu) {
    if (!cpu) patch.push({ op: 'add', path: VM_PATHS.cpu, value: {} });
    if (cpu?.maxSockets !== undefined && sockets > cpu.maxSockets) {
      raisesMaximum = true;
      patch.push({ op: 'add', path: `${VM_PATHS.cpu}/maxSockets`, value: Math.min(sockets * GROWTH_FACTOR, MAX_CPUS) });
    }
    patch.push({ op: 'test', path: `${VM_PATHS.cpu}/sockets`, value: cpu?.sockets ?? null });
    patch.push({ op: 'add', path: `${VM_PATHS.cpu}/sockets`, value: sockets });
  }
  if (hasOtherMemory) {
    if (!memory) patch.push({ op: 'add', path: VM_PATHS.memory, value: {} });
    const maximum = bytesOf(memory?.maxGuest);
    if (maximum !== undefined && memoryBytes > maximum) {
      raisesMaximum = true;
      patch.push({ op: 'add', path: `${VM_PATHS.memory}/maxGuest`, value: formatBytes(memoryBytes * GROWTH_FACTOR) });
    }
    // KubeVirt refuses a maximum in a VM that is too small to grow.
    if (maximum !== undefined && memoryBytes < GIB) {
      raisesMaximum = true;
      patch.push({ op: 'remove', path: `${VM_PATHS.memory}/maxGuest` });
    }
    patch.push({ op: 'test', path: `${VM_PATHS.memory}/guest`, value: memory?.guest ?? null });
    patch.push({ op: 'add', path: `${VM_PATHS.memory}/guest`, value: formatBytes(memoryBytes) });
  }
  return { patch, raisesMaximum };
}

/** KubeVirt's own rules. Source: its live update of CPU sockets and guest memory. */
async function canScaleLive(
  deps: HardwareDeps,
  state: VmState,
  { sockets, memoryBytes }: Wanted,
  hasOtherMemory: boolean,
): Promise<boolean> {
  const { facts, vmi, vm } = state;
  if (!facts.rollsOutLive) return false;
  if (conditionOf(vm.status?.conditions, 'RestartRequired')?.status === 'True') return false;
  const live = vmi?.spec;
  if (!live || live.architecture === 'arm64') return false;
  const present = live.domain?.cpu?.sockets ?? 1;
  if (sockets < present || sockets > (live.domain?.cpu?.maxSockets ?? present)) return false;
  if (hasOtherMemory) {
    const atBoot = bytesOf(vmi?.status?.memory?.guestAtBoot ?? live.domain?.memory?.guest) ?? 0;
    const maximum = bytesOf(live.domain?.memory?.maxGuest) ?? 0;
    if (atBoot < GIB || memoryBytes < atBoot || memoryBytes > maximum) return false;
  }
  return canMigrate(deps, state);
}

async function sizeRefusals(
  { api }: HardwareDeps,
  { ref, vm, vmi, size }: VmState,
  { cpu, memoryBytes, perSocket }: ScaleChange & { readonly perSocket: number },
): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  const type = vm.spec?.instancetype?.name;
  if (type !== undefined) {
    return [
      refusal(
        'WRONG_STATE',
        `${ref.name} has the size of its instancetype ${type}.`,
        'Choose another instancetype in the VM with kubectl.',
      ),
    ];
  }
  const nodes = await api.list<NodeObject>(NODES);
  const largest = (of: (resources: Readonly<Record<string, string>>) => number): number =>
    Math.max(0, ...nodes.map(({ status }) => of(status?.allocatable ?? {})));
  const cores = largest(({ cpu: amount }) => (amount === undefined ? 0 : parseMillicores(amount) / 1000));
  const maxCpu = Math.max(
    size.cpu,
    Math.min(MAX_CPUS, cores === 0 ? MAX_CPUS : Math.floor(cores * CPU_ALLOCATION_RATIO)),
  );
  if (cpu !== undefined && (!Number.isInteger(cpu) || cpu < 1 || cpu > maxCpu)) {
    refusals.push(
      refusal('INVALID_INPUT', `cpu: no node has room for ${cpu} CPUs: use 1 to ${maxCpu}.`, `Use 1 to ${maxCpu}.`),
    );
  } else if (cpu !== undefined && cpu % perSocket !== 0) {
    refusals.push(
      refusal(
        'INVALID_INPUT',
        `cpu: ${ref.name} has sockets of ${perSocket} CPUs, so it can't have ${cpu}.`,
        `Use a multiple of ${perSocket}.`,
      ),
    );
  }
  if (memoryBytes !== undefined) {
    const memory = largest(({ memory: amount }) => (amount === undefined ? 0 : parseKubernetesBytes(amount)));
    const maxBytes = Math.max(size.memoryBytes, memory === 0 ? MEMORY_RULE.maxBytes : memory);
    if (!Number.isSafeInteger(memoryBytes) || memoryBytes < MEMORY_RULE.minBytes || memoryBytes > maxBytes) {
      const limits = `${formatBytes(MEMORY_RULE.minBytes)} to ${formatBytes(Math.floor(maxBytes / BLOCK_BYTES) * BLOCK_BYTES)}`;
      refusals.push(refusal('INVALID_QUANTITY', `mem: the largest node has room for ${limits}.`, `Use ${limits}.`));
    }
  }
  const busy = ['HotVCPUChange', 'HotMemoryChange'].find((type) => conditionOf(vmi?.status?.conditions, type));
  if (busy !== undefined && refusals.length === 0) {
    refusals.push(
      refusal(
        'BUSY',
        `${ref.name} is still being scaled: an earlier change waits for its migration.`,
        'Try again when it is done.',
      ),
    );
  }
  return refusals;
}
