import { messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import type { BeatingObjects } from './beating-objects.js';

/** How often a service says that it still uses an object. */
export const BEAT_MS = 2 * 60_000;
/** Longer than several beats, also when some are lost. */
export const SWEEP_MS = 10 * 60_000;

export interface LeftOversDeps {
  readonly objects: Pick<BeatingObjects, 'all' | 'beatOf' | 'remove'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined: all. */
  readonly namespaces?: readonly string[];
  /** Whether the cluster is known to have objects of the kind. */
  readonly isServed: () => boolean;
  /** For the log. */
  readonly messages: { readonly removed: string; readonly failed: string };
}

/**
 * Removes objects whose service was killed, with everything that they own. Others may use theirs meanwhile, in another
 * process or from another machine, so only those go whose beat has not changed between two looks. Clocks are not
 * compared.
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
    const { objects, log, isServed, namespaces, messages } = this.deps;
    if (!isServed()) return;
    try {
      const found: KubeObject[] = [];
      for (const namespace of namespaces ?? [undefined]) found.push(...(await objects.all(namespace)));
      const before = this.seen;
      this.seen = new Map(found.map((one) => [one.metadata.uid ?? '', objects.beatOf(one)]));
      for (const object of found) {
        if (before.get(object.metadata.uid ?? '') !== objects.beatOf(object)) continue;
        // A beat since it was listed protects it.
        if (await objects.remove(object, { onlyVersion: true }))
          log.info({ object: object.metadata.name }, messages.removed);
      }
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.reported) log.warn({ reason }, messages.failed);
      this.reported = reason;
    }
  }

  async close(): Promise<void> {
    this.stop();
    await this.working;
  }
}
