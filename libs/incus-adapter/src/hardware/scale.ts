import {
  formatBytes,
  MEMORY_RULE,
  noChange,
  plannedChange,
  refusal,
  refusedChange,
  type InstanceRef,
  type PlannedChange,
  type PlanStep,
  type Refusal,
  type ScaleChange,
} from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';
import { whenIdle } from '../api/when-idle.js';
import { configureInstance, type ConfigChange } from '../engine/configure-instance.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { instancePath } from '../engine/instance-finder.js';
import { formatLimit } from '../inventory/limits.js';
import type { Resources } from '../inventory/read-host.js';
import { isStopped } from '../power/start-and-stop.js';
import type { Machines } from './machines.js';
import { sizeOf, type Size } from './read-hardware.js';
import type { Restarts } from './restarts.js';

export interface ScaleDeps {
  readonly engine: IncusEngine;
  readonly machines: Machines;
  readonly restarts: Restarts;
}

interface StateObject {
  readonly memory?: { readonly usage?: number };
}

const CPU = 'limits.cpu';
const MEMORY = 'limits.memory';
/** Limits that are no number: a set of CPUs, a part of the memory. */
const SPECIAL = { [CPU]: /[-,]/, [MEMORY]: /%$/ } as const;

/**
 * The limits of a container that runs change at once. The kernel would end its programs to enforce a limit below the
 * memory that they use, so that one takes a restart.
 */
export async function planScale(
  { engine, machines, restarts }: ScaleDeps,
  ref: InstanceRef,
  instance: InstanceObject,
  { cpu, memoryBytes, restart }: ScaleChange,
): Promise<PlannedChange> {
  const [size, machine] = await Promise.all([sizeOf(machines, instance), machines.of(instance)]);
  const refusals = sizeRefusals(instance, { cpu, memoryBytes }, { size, machine });
  if (refusals.length > 0) return refusedChange(...refusals);
  const change: ConfigChange = {
    ...(cpu !== undefined && cpu !== size.cpu && { [CPU]: String(cpu) }),
    ...(memoryBytes !== undefined && memoryBytes !== size.memoryBytes && { [MEMORY]: formatLimit(memoryBytes) }),
  };
  if (Object.keys(change).length === 0) return noChange;
  const isRunning = !isStopped(instance);
  // No more than the present limit is in use.
  const isSmaller = memoryBytes !== undefined && memoryBytes < size.memoryBytes;
  const used = isRunning && isSmaller ? await memoryUsed(engine, instance) : 0;
  const isBelowUse = isSmaller && memoryBytes < used;
  if (isBelowUse && !restart) {
    const { name } = instance;
    return refusedChange(
      refusal(
        'WRONG_STATE',
        `mem: ${name} uses ${formatBytes(used)} now, files in the cache included, so it can't be limited to ${formatBytes(memoryBytes)} while it runs.`,
        'Restart it with the change, or end programs in it first.',
      ),
    );
  }
  const warnings = Object.keys(change).flatMap((key) => replacedLimit(instance, key));
  const steps = stepsOf(instance, change, { cpu, memoryBytes }, isRunning && !isBelowUse);
  if (!isBelowUse) {
    const effect = isRunning ? 'now' : 'next-start';
    return plannedChange({ effect, steps, warnings, run: () => configureInstance(engine, ref, instance, change) });
  }
  const { name } = instance;
  return plannedChange({
    effect: 'restart',
    steps: [{ name: 'stop', detail: `Stop ${name}.` }, ...steps, { name: 'start', detail: `Start ${name} again.` }],
    warnings,
    run: () => restarts.run(ref, instance, change),
  });
}

/** The files of its programs in the cache included: the kernel would drop those first. */
async function memoryUsed({ api }: IncusEngine, instance: InstanceObject): Promise<number> {
  const { project } = instance;
  const path = `${instancePath(instance)}/state`;
  const { memory } = await whenIdle(api, instance, () => api.get<StateObject>(path, { project }));
  return memory?.usage ?? 0;
}

function stepsOf(
  { name }: InstanceObject,
  change: ConfigChange,
  { cpu = 0, memoryBytes = 0 }: Partial<Size>,
  isLive: boolean,
): PlanStep[] {
  const during = isLive ? ' while it runs' : '';
  return [
    ...(change[CPU] === undefined
      ? []
      : [{ name: 'cpu', detail: `${name} gets ${cpu === 1 ? '1 CPU' : `${cpu} CPUs`}${during}.` }]),
    ...(change[MEMORY] === undefined
      ? []
      : [{ name: 'memory', detail: `${name} gets ${formatBytes(memoryBytes)} of memory${during}.` }]),
  ];
}

function replacedLimit({ expanded_config: config }: InstanceObject, key: string): string[] {
  const text = config[key] ?? '';
  const isSpecial = key in SPECIAL && SPECIAL[key as keyof typeof SPECIAL].test(text);
  return isSpecial ? [`A fixed number replaces ${key}, which is ${text} now.`] : [];
}

function sizeRefusals(
  { name }: InstanceObject,
  { cpu, memoryBytes }: Partial<Size>,
  { size, machine }: { readonly size: Size; readonly machine: Resources | undefined },
): Refusal[] {
  const refusals: Refusal[] = [];
  // Limits that another client has set above the machine may stay.
  const maxCpu = machine && Math.max(machine.cpu.total, size.cpu);
  if (cpu !== undefined && (!Number.isInteger(cpu) || cpu < 1 || cpu > (maxCpu ?? cpu))) {
    const range = maxCpu === undefined ? 'at least 1' : `1 to ${maxCpu}`;
    const reason = `cpu: ${name} can have ${range} CPUs on its machine, not ${cpu}.`;
    refusals.push(refusal('INVALID_INPUT', reason, `Use ${range}.`));
  }
  const { minBytes } = MEMORY_RULE;
  const maxBytes = machine ? Math.max(machine.memory.total, size.memoryBytes) : MEMORY_RULE.maxBytes;
  const isPossible = (bytes: number): boolean => Number.isSafeInteger(bytes) && bytes >= minBytes && bytes <= maxBytes;
  if (memoryBytes !== undefined && !isPossible(memoryBytes)) {
    const limits = `${formatBytes(minBytes)} to ${formatBytes(maxBytes)}`;
    const reason = `mem: ${name} can have ${limits} of memory on its machine, not ${formatBytes(memoryBytes)}.`;
    refusals.push(refusal('INVALID_QUANTITY', reason, `Use ${limits}.`));
  }
  return refusals;
}
