import {
  DomainError,
  isVm,
  messageOf,
  parseRef,
  reporterOf,
  type BackendDirectory,
  type Clock,
  type InstanceDirectory,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskJournal,
} from '@headgate/domain-contracts';
import type { InstanceRecords } from '../instance-records.js';
import type { MoveInput } from '../move-input.js';
import type { MoveStrategy } from './move-strategy.js';
import { PATIENCE } from './patience.js';

export interface LiveMoveDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly records: InstanceRecords;
  readonly clock: Clock;
}

interface Migrated {
  /** Absent if the backend did not report it. */
  readonly downtimeMs?: number;
}

/** How long both backends may take after a restart to agree on where the guest runs. */
const SETTLE_TIMEOUT_MS = 10 * 60_000;
const SETTLE_INTERVAL_MS = 1000;
/** The new entry appears shortly after the end of the migration. */
const LIST_TIMEOUT_MS = 30_000;

/** A move as a live migration: the guest continues to run, and only its place changes. */
export class LiveMove implements MoveStrategy {
  constructor(private readonly deps: LiveMoveDeps) {}

  steps(): readonly StepDefinition<MoveInput>[] {
    return [
      { name: 'migrate', ...PATIENCE.migrate, isCancelable: true, weight: 30, run: (context) => this.migrate(context) },
      { name: 'folder', ...PATIENCE.folder, run: (context) => this.carryOverRecords(context) },
    ];
  }

  /** A migration ends with the service that directs it, and is not begun again without its user. */
  async resume({ input, steps }: TaskJournal<MoveInput>, { log, signal }: TaskContext): Promise<Resumption> {
    const last = steps.at(-1);
    if (!last || last.isFinished || last.name !== 'migrate') return { action: 'continue' };
    const place = await this.settledPlace(input, signal);
    log(`The service was restarted during the migration. ${WHERE[place]}`);
    return place === 'destination'
      ? { action: 'finished', result: {} satisfies Migrated }
      : { action: 'rollback', reason: `The migration was interrupted by a restart. ${WHERE[place]}` };
  }

  /** Does nothing: the backend leaves the guest at the source when the migration fails or is canceled. */
  async rollback(): Promise<void> {}

  result({ input, steps }: TaskJournal<MoveInput>): object {
    const { downtimeMs } = (steps.find(({ name }) => name === 'migrate')?.result ?? {}) as Migrated;
    return {
      destination: input.destination,
      ...(downtimeMs !== undefined && { downtimeSeconds: downtimeMs / 1000 }),
    };
  }

  private async migrate(context: StepContext<MoveInput>): Promise<Migrated> {
    const { input } = context;
    const [source, destination] = [parseRef(input.source), parseRef(input.destination)];
    if (!this.isAt(input, input.source))
      throw new DomainError('INSTANCE_NOT_FOUND', `${source.name} was deleted before its move began.`);
    const migration = this.deps.backends.get(source.context).require('migration');
    const work = await migration.migrate(source, destination.context);
    let downtimeMs: number | undefined;
    await work(reporterOf(context, (facts) => void (downtimeMs = facts.downtimeMs)));
    await this.deps.directory.waitFor(destination, (vm) => vm !== undefined, LIST_TIMEOUT_MS);
    return downtimeMs === undefined ? {} : { downtimeMs };
  }

  /** A VM in no folder works as well, so a failure does not end the move. */
  private async carryOverRecords({ input, log }: StepContext<MoveInput>): Promise<void> {
    const { records } = this.deps;
    const { source: ref, uid, destination } = input;
    try {
      await records.carryOver({ ref, uid }, { ref: destination, uid });
      await records.forget({ ref, uid });
    } catch (error) {
      log(`The VM could not be put into the folder that it had: ${messageOf(error)}`);
    }
  }

  /** Waits until only one of the two backends has the guest. */
  private async settledPlace(input: MoveInput, signal: AbortSignal): Promise<keyof typeof WHERE> {
    const deadline = this.deps.clock.now() + SETTLE_TIMEOUT_MS;
    for (;;) {
      const [here, there] = [this.isAt(input, input.source), this.isAt(input, input.destination)];
      if (there && !here) return 'destination';
      if (here && !there && !this.isMigrating(input)) return 'source';
      if (this.deps.clock.now() >= deadline) return 'unknown';
      await this.deps.clock.delay(SETTLE_INTERVAL_MS);
      signal.throwIfAborted();
    }
  }

  private isAt({ uid }: MoveInput, ref: string): boolean {
    return this.deps.directory.get(parseRef(ref))?.uid === uid;
  }

  private isMigrating({ source }: MoveInput): boolean {
    const vm = this.deps.directory.get(parseRef(source));
    return vm !== undefined && isVm(vm) && vm.status === 'Migrating';
  }
}

const WHERE = {
  source: 'The guest runs at the source, as before.',
  destination: 'The guest runs at the destination.',
  unknown: 'It is not known yet where the guest runs: look for it in both contexts.',
} as const;
