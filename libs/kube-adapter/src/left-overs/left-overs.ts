import { messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import { ANNOTATION } from '../labels.js';
import type { SnapshotObject } from '../snapshots/snapshot-objects.js';
import type { MomentSnapshots } from './moment-snapshot.js';

/** How often a service says that it still reads a snapshot. */
export const BEAT_MS = 2 * 60_000;
/** Longer than several beats, also when some are lost. */
export const SWEEP_MS = 10 * 60_000;

export interface LeftOversDeps {
  readonly snapshots: MomentSnapshots;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined: all. */
  readonly namespaces?: readonly string[];
  /** Whether the cluster is known to have snapshots. */
  readonly isServed: () => boolean;
}

/**
 * Removes the snapshots of backups whose service was killed, with their exports. Others may read theirs meanwhile, in
 * another process or from another machine, so only those go whose beat has not changed between two looks. Clocks are
 * not compared.
 */
export class LeftOvers {
  /** The beat at the last look, by uid. */
  private seen: ReadonlyMap<string, string> = new Map();
  private working: Promise<void> = Promise.resolve();
  private reported = '';
  private readonly stop: () => void;

  constructor(private readonly deps: LeftOversDeps) {
    this.stop = deps.clock.every(SWEEP_MS, () => void (this.working = this.working.then(() => this.sweep())));
  }

  /** Never rejects. */
  async sweep(): Promise<void> {
    const { snapshots, log, isServed, namespaces } = this.deps;
    if (!isServed()) return;
    try {
      const found: SnapshotObject[] = [];
      for (const namespace of namespaces ?? [undefined]) found.push(...(await snapshots.all(namespace)));
      const before = this.seen;
      this.seen = new Map(found.map((one) => [one.metadata.uid ?? '', beatOf(one)]));
      for (const snapshot of found) {
        if (before.get(snapshot.metadata.uid ?? '') !== beatOf(snapshot)) continue;
        // A beat since it was listed protects it.
        if (await snapshots.remove(snapshot, { onlyVersion: true }))
          log.info({ snapshot: snapshot.metadata.name }, 'a snapshot that a backup has left was removed');
      }
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.reported) log.warn({ reason }, 'the snapshots that backups have left were not looked for');
      this.reported = reason;
    }
  }

  async close(): Promise<void> {
    this.stop();
    await this.working;
  }
}

const beatOf = ({ metadata }: SnapshotObject): string => metadata.annotations?.[ANNOTATION.backupBeat] ?? '';
