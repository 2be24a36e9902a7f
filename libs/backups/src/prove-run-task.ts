import { createHash } from 'node:crypto';
import {
  DomainError,
  messageOf,
  parseRef,
  type Clock,
  type StepContext,
  type StepDefinition,
  type TaskDefinition,
} from '@headgate/domain-contracts';
import { pointsOf, type BackupPoint } from './backup-point.js';
import { findTarget } from './find-target.js';
import type { ProveInput, ProveTask, ProveTaskDeps } from './prove-task.js';
import type { CleanInput, CleanTask } from './target-care.js';
import { whenFree } from './when-free.js';

/** The journaled input. */
export interface ProveRunInput {
  /** The ID of the target. */
  readonly target: string;
  /** The tasks whose points are booted. */
  readonly tasks: readonly string[];
  /** The clean-up afterwards, for which the new proofs count. */
  readonly clean?: CleanInput;
}

export interface ProveRunDeps extends Pick<ProveTaskDeps, 'targets' | 'stores' | 'proofs'> {
  readonly proof: Pick<ProveTask, 'prove' | 'discard'>;
  readonly cleanUp: Pick<CleanTask, 'stepOf'>;
  readonly clock: Clock;
}

export interface ProvedRun {
  readonly booted: number;
  /** Those whose context boots no backups. */
  readonly skipped: number;
  /** A sentence about each one that did not boot. */
  readonly failures: readonly string[];
}

const STALL_MS = 90 * 60_000;
/** A clean-up of the target takes minutes, and so do other proofs. */
const MAX_WAIT_MS = 8 * 60 * 60_000;
const TIME_LIMIT_MS = 5 * 60_000;

/**
 * Boots the new points of a run of a schedule, one after the other, each in the context of its VM, and cleans the
 * former ones up. The task fails in the end if one of them does not boot.
 */
export class ProveRunTask implements TaskDefinition<ProveRunInput> {
  readonly kind = 'prove-backups';

  constructor(private readonly deps: ProveRunDeps) {}

  steps({ clean }: ProveRunInput): readonly StepDefinition<ProveRunInput>[] {
    return [
      {
        name: 'prove',
        isCancelable: true,
        stallMs: STALL_MS,
        waitsFor: 'the backups to boot',
        ifStalled: 'The guest of the proof is removed at the next start of the service.',
        run: (context) => this.proveAll(context),
      },
      ...(clean ? [this.deps.cleanUp.stepOf<ProveRunInput>(() => clean)] : []),
      {
        name: 'report',
        isCancelable: true,
        stallMs: STALL_MS,
        waitsFor: 'the report',
        ifStalled: 'The certificates of the backups have the results.',
        run: async (context) => expectNoFailures(context.result<ProvedRun>('prove')),
      },
    ];
  }

  /** Points that have a certificate are not booted again. */
  async resume() {
    return { action: 'continue' } as const;
  }

  result({ steps }: { readonly steps: readonly { readonly result?: unknown }[] }): object | undefined {
    return steps[0]?.result as ProvedRun | undefined;
  }

  private async proveAll(context: StepContext<ProveRunInput>): Promise<ProvedRun> {
    const { targets, stores, proofs } = this.deps;
    const { input, signal, log } = context;
    const store = await stores.open(findTarget(targets, input.target));
    const points = pointsOf(await store.snapshots()).filter(
      ({ series, task }) => series === input.target && input.tasks.includes(task),
    );
    const failures: string[] = [];
    let [booted, skipped] = [0, 0];
    for (const point of points.reverse()) {
      const name = parseRef(point.ref).name;
      const former = proofs.of(input.target, point.id)?.certificate;
      try {
        if (former === undefined) await this.proveOne(context, point);
        else if (former.outcome === 'failed')
          throw new DomainError('BACKEND_FAILED', former.reason ?? 'It did not boot.');
        booted++;
      } catch (error) {
        signal.throwIfAborted();
        log(`${name}: ${messageOf(error)}`);
        if (DomainError.is(error, 'NOT_SUPPORTED')) skipped++;
        else failures.push(`${name}: ${messageOf(error)}`);
      }
    }
    return { booted, skipped, failures };
  }

  private async proveOne(context: StepContext<ProveRunInput>, point: BackupPoint): Promise<void> {
    const { proof, clock } = this.deps;
    const { target } = context.input;
    const input: ProveInput = {
      id: idOf(context.task, point.id),
      target,
      point: point.id,
      context: parseRef(point.ref).context,
      timeLimitMs: TIME_LIMIT_MS,
      readAll: true,
    };
    // A service that was killed may have left the guest.
    if (context.attempt > 1) await proof.discard(input);
    const waiting = { ...context, clock, atMost: MAX_WAIT_MS };
    await whenFree(() => proof.prove({ ...context, input }), waiting);
  }
}

function expectNoFailures({ booted, skipped, failures }: ProvedRun): object {
  if (failures.length === 0) return {};
  const count = booted + skipped + failures.length;
  throw new DomainError('BACKEND_FAILED', `${failures.length} of ${count} backups have no proof. ${failures[0]}`);
}

/** A UUID that is the same in each attempt. */
function idOf(task: string, point: string): string {
  const hex = createHash('sha256').update(`${task} ${point}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
