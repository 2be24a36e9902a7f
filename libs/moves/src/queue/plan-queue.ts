import { formatBytes, formatRef, parseRef, runConcurrently, type InstanceRef } from '@headgate/domain-contracts';
import type { MoveConcern, MovePlan } from '../plan/move-plan.js';
import type { PlanMove, PreparedMove } from '../plan/plan-move.js';
import type { Throughput } from '../estimates/throughput.js';
import type { QueueRequest } from './queue-request.js';

/** A refusal of one member. */
export interface MemberRefusal extends MoveConcern {
  /** As text. */
  readonly ref: string;
}

/** The preflight of all members together. */
export interface QueuePlan {
  /** Whether no member is refused. */
  readonly ok: boolean;
  /** Those of the members, and those that only all of them together have. */
  readonly refusals: readonly MemberRefusal[];
  readonly warnings: readonly string[];
  readonly members: readonly MovePlan[];
  readonly estimatedBytes: number;
  /** How long the copies of all members take, one after the other. */
  readonly estimatedSeconds: number;
  readonly perHost: number;
  readonly deleteSource: boolean;
}

/** More at the same time would only wait in the backends. */
const MAX_CONCURRENT_PLANS = 8;

/** The preflight of a queue. Changes nothing. */
export class PlanQueue {
  constructor(
    private readonly planMove: PlanMove,
    private readonly throughput: Throughput,
  ) {}

  /** @throws DomainError INVALID_REF; NOT_READY while the context of a source was not listed yet */
  async run({ move, perHost, leavesOutMoved }: QueueRequest, refs: readonly InstanceRef[]): Promise<QueuePlan> {
    const members = await this.prepare(refs, move);
    const isMoved = ({ plan }: PreparedMove): boolean => plan.refusals.some(({ code }) => code === 'SAME_PLACE');
    const left = leavesOutMoved ? members.filter((member) => !isMoved(member)) : members;
    const warnings = left.length < members.length ? [leftOut(members.length - left.length)] : [];
    const refusals = [
      ...left.flatMap(({ plan }) => plan.refusals.map((refusal) => ({ ...refusal, ref: plan.source }))),
      ...nameRefusals(left),
      ...spaceRefusals(left),
    ];
    const estimatedBytes = left.reduce((sum, { plan }) => sum + plan.estimatedBytes, 0);
    return {
      ok: refusals.length === 0 && left.length > 0,
      refusals,
      warnings,
      members: left.map(({ plan }) => plan),
      estimatedBytes,
      estimatedSeconds: this.throughput.secondsFor(estimatedBytes),
      perHost,
      deleteSource: move.deleteSource ?? false,
    };
  }

  private async prepare(refs: readonly InstanceRef[], move: QueueRequest['move']): Promise<PreparedMove[]> {
    const texts = [...new Set(refs.map(formatRef))];
    const prepared = new Map<string, PreparedMove>();
    await runConcurrently(texts, MAX_CONCURRENT_PLANS, async (ref) => {
      prepared.set(ref, await this.planMove.run({ ...move, ref }));
    });
    return texts.flatMap((ref) => prepared.get(ref) ?? []);
  }
}

const leftOut = (count: number): string =>
  `${count === 1 ? '1 VM is' : `${count} VMs are`} left out: already at the destination.`;

/** Two members that would have the same name at the destination. */
function nameRefusals(members: readonly PreparedMove[]): MemberRefusal[] {
  const taken = new Map<string, string>();
  return members.flatMap(({ plan: { source, destination } }): MemberRefusal[] => {
    const other = destination === '' ? undefined : taken.get(destination);
    if (other === undefined) {
      taken.set(destination, source);
      return [];
    }
    const { name, context } = parseRef(destination);
    return [
      {
        ref: source,
        code: 'ALREADY_EXISTS',
        reason: `${source} and ${other} would both be ${name} in ${context}.`,
        remedy: 'Move one of them on its own, with another name.',
        category: 'request',
        severity: 'critical',
      },
    ];
  });
}

/** Members of which each one fits, but not all of them together. */
function spaceRefusals(members: readonly PreparedMove[]): MemberRefusal[] {
  const needed = new Map<string, number>();
  return members.flatMap(({ plan: { source, destination, estimatedBytes }, availableBytes }): MemberRefusal[] => {
    if (destination === '' || availableBytes === undefined || estimatedBytes > availableBytes) return [];
    const { context } = parseRef(destination);
    const sum = (needed.get(context) ?? 0) + estimatedBytes;
    needed.set(context, sum);
    if (sum <= availableBytes) return [];
    return [
      {
        ref: source,
        code: 'INSUFFICIENT_STORAGE',
        reason: `The members up to this one need ${formatBytes(roundedUp(sum))} in ${context}, and ${formatBytes(roundedDown(availableBytes))} are left.`,
        remedy: `Free some space in ${context}, or move fewer VMs.`,
        category: 'storage',
        severity: 'critical',
      },
    ];
  });
}

const MIB = 1024 ** 2;
const roundedUp = (bytes: number): number => Math.ceil(bytes / MIB) * MIB;
const roundedDown = (bytes: number): number => Math.floor(bytes / MIB) * MIB;
