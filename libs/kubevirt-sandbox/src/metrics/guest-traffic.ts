import { findCondition, isTrue, type Condition } from '../types/condition.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import { RESOURCES } from '../resources.js';
import type { SimulationContext } from '../simulation-context.js';
import { loadSum } from './pseudo-load.js';

/** The traffic of one disk or interface under full load, in bytes per second. */
export const FULL = { read: 40e6, write: 25e6, receive: 12e6, transmit: 8e6 } as const;

export type Direction = keyof typeof FULL;

/**
 * The traffic of guests, computed from their load since their start. A paused guest has none. The target of a migration
 * counts from zero.
 */
export class GuestTraffic {
  /** How long guests were paused before, in milliseconds, by the uid of their VMI. */
  private readonly paused = new Map<string, number>();

  constructor(private readonly context: SimulationContext) {
    context.store.subscribe(
      RESOURCES.vmi,
      ({ type, object, previous }) => {
        const uid = object.metadata.uid!;
        if (type === 'DELETED') return void this.paused.delete(uid);
        const [now, before] = [object, previous].map((one) => (one as VirtualMachineInstance | undefined)?.status);
        if (!isTrue(before?.conditions, 'Paused') || isTrue(now?.conditions, 'Paused')) return;
        const since = pausedSince(before?.conditions) ?? context.clock.now();
        this.paused.set(uid, (this.paused.get(uid) ?? 0) + context.clock.now() - since);
      },
      { atRest: 'never' },
    );
  }

  /** The bytes so far. @param device the name of the disk or interface */
  bytes(vmi: VirtualMachineInstance, device: string, direction: Direction): number {
    const { uid = '' } = vmi.metadata;
    const until = pausedSince(vmi.status?.conditions) ?? this.context.clock.now();
    const begin = begunAt(vmi) ?? until;
    // Whole seconds, like the times of conditions: otherwise a counter would go back when its guest is paused.
    const seconds = Math.floor(Math.max(0, until - begin - (this.paused.get(uid) ?? 0)) / 1000);
    return Math.round(FULL[direction] * loadSum(`${uid}/${device}/${direction}`, seconds));
  }
}

function pausedSince(conditions: readonly Condition[] | undefined): number | undefined {
  const paused = findCondition(conditions, 'Paused');
  return paused?.status === 'True' ? timeOf(paused.lastTransitionTime) : undefined;
}

/** When the process of the guest began to run it. */
function begunAt({ metadata, status }: VirtualMachineInstance): number | undefined {
  const { migrationState, phaseTransitionTimestamps } = status ?? {};
  const moved = migrationState?.completed && !migrationState.failed ? timeOf(migrationState.endTimestamp) : undefined;
  const running = phaseTransitionTimestamps?.find(({ phase }) => phase === 'Running')?.phaseTransitionTimestamp;
  return moved ?? timeOf(running ?? metadata.creationTimestamp);
}

function timeOf(stamp: string | null | undefined): number | undefined {
  const time = Date.parse(stamp ?? '');
  return Number.isNaN(time) ? undefined : time;
}
