import { DomainError, type Clock } from '@headgate/domain-contracts';
import type { KeptRehearsal, RehearsalStatus } from './rehearsal.js';

export const MAX_PER_TOKEN = 20;
export const MAX_WAITING_PER_TOKEN = 5;
export const MAX_KEPT = 200;
/** How long the outcome of a commit can be read. */
const KEEP_ENDED_MS = 60 * 60_000;
const OPEN: ReadonlySet<RehearsalStatus> = new Set(['ready', 'waiting', 'running']);

/** The rehearsals in memory, with bounds. A restart forgets them. */
export class KeptRehearsals {
  /** The oldest first. */
  private readonly all = new Map<string, KeptRehearsal>();

  constructor(private readonly clock: Clock) {}

  /**
   * Keeps a rehearsal. The oldest one of the same token that does not wait makes room, or the oldest that has ended.
   * @throws DomainError BUDGET_EXHAUSTED when there are too many that may not be forgotten
   */
  add(kept: KeptRehearsal): void {
    const own = this.list().filter(({ view }) => view.token === kept.view.token);
    if (own.length >= MAX_PER_TOKEN) this.makeRoom(own);
    if (this.all.size >= MAX_KEPT) this.makeRoom([...this.all.values()].filter(({ view }) => !OPEN.has(view.status)));
    this.all.set(kept.view.id, kept);
  }

  /** @throws DomainError REHEARSAL_NOT_FOUND */
  get(id: string): KeptRehearsal {
    const kept = this.list().find(({ view }) => view.id === id);
    if (kept) return kept;
    throw rehearsalNotFound(id);
  }

  /** Those that have not expired. */
  list(): KeptRehearsal[] {
    const now = this.clock.now();
    for (const [id, { view }] of this.all) {
      const isOver = OPEN.has(view.status)
        ? view.status !== 'running' && view.expiresAt <= now
        : (view.committedAt ?? view.expiresAt) + KEEP_ENDED_MS <= now;
      if (isOver) this.all.delete(id);
    }
    return [...this.all.values()];
  }

  private makeRoom(candidates: readonly KeptRehearsal[]): void {
    const oldest = candidates.find(({ view }) => view.status !== 'waiting' && view.status !== 'running');
    if (!oldest)
      throw new DomainError('BUDGET_EXHAUSTED', 'Too many rehearsals wait or run: try again when some have ended.');
    this.all.delete(oldest.view.id);
  }
}

export const rehearsalNotFound = (id: string): DomainError =>
  new DomainError(
    'REHEARSAL_NOT_FOUND',
    `There is no rehearsal ${id.slice(0, 40)} of this token: it has expired, or was forgotten by a restart. Rehearse it again.`,
  );
