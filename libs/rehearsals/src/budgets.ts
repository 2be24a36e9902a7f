import { DomainError, type Clock, type Leash } from '@headgate/domain-contracts';
import type { BudgetFacts } from './agents.js';

const HOUR_MS = 60 * 60_000;

/** A change that counts. */
interface Use {
  readonly at: number;
  readonly ref: string;
  /** The folders that it counts in; undefined if they are not known any more: then it counts in each of them. */
  readonly folders: readonly string[] | undefined;
}

/** What an agent may still change. */
export interface Budget {
  readonly changesPerHour: number;
  readonly left: number;
}

export interface BudgetRequest {
  readonly token: string;
  readonly name: string;
  readonly leash: Leash;
  /** The instances that are changed. */
  readonly refs: readonly string[];
  /** The folder that they are put into. */
  readonly into?: string | undefined;
}

/**
 * Counts the instances that each agent has changed within an hour. A change counts from its commit on, also if it
 * fails. After a restart, the changes in the journal count.
 */
export class Budgets {
  private readonly uses = new Map<string, Use[]>();

  constructor(
    private readonly facts: BudgetFacts,
    private readonly clock: Clock,
  ) {}

  of(token: string, { changesPerHour }: Leash): Budget {
    return { changesPerHour, left: Math.max(0, changesPerHour - this.recentOf(token).length) };
  }

  /**
   * Counts the changes of a commit, in one step with the check.
   * @throws DomainError BUDGET_EXHAUSTED with the rest of the budget, and the time at which the commit is possible
   */
  take({ token, name, leash, refs, into }: BudgetRequest): void {
    const recent = this.recentOf(token);
    this.expectChanges(name, leash, recent, refs.length);
    const at = this.clock.now();
    const added = refs.map((ref): Use => ({ at, ref, folders: this.foldersOf(ref, into) }));
    this.expectShares(name, leash, [...recent, ...added], added);
    this.uses.set(token, [...recent, ...added]);
  }

  /** A token was revoked. */
  forget(token: string): void {
    this.uses.delete(token);
  }

  private recentOf(token: string): Use[] {
    const since = this.clock.now() - HOUR_MS;
    const known = this.uses.get(token) ?? this.read(token, since);
    const recent = known.filter(({ at }) => at > since);
    this.uses.set(token, recent);
    return recent;
  }

  /** From the journal, once: all later changes come from commits of this process. */
  private read(token: string, since: number): Use[] {
    return this.facts.changesOf(token, since).map(({ ref, at }) => {
      const folder = this.facts.folderOf(ref);
      return { ref, at, folders: folder === undefined ? undefined : [folder] };
    });
  }

  private foldersOf(ref: string, into: string | undefined): string[] {
    return [...new Set([this.facts.folderOf(ref) ?? '', into ?? this.facts.folderOf(ref) ?? ''])];
  }

  private expectChanges(name: string, { changesPerHour }: Leash, recent: readonly Use[], wanted: number): void {
    const left = changesPerHour - recent.length;
    if (wanted <= left) return;
    const details = { changesPerHour, left: Math.max(0, left), wanted };
    const limit = `${name} may change ${changesPerHour} instances in an hour, and has changed ${recent.length}`;
    if (wanted > changesPerHour)
      throw new DomainError('BUDGET_EXHAUSTED', `${limit}: a commit of ${wanted} is never possible; divide it.`, {
        details,
      });
    const sorted = recent.map(({ at }) => at).sort((a, b) => a - b);
    const possibleAt = new Date((sorted[wanted - left - 1] ?? 0) + HOUR_MS).toISOString();
    throw new DomainError('BUDGET_EXHAUSTED', `${limit}: a commit of ${wanted} is possible at ${possibleAt}.`, {
      details: { ...details, possibleAt },
    });
  }

  private expectShares(name: string, { maxPercentOfFolder }: Leash, all: readonly Use[], added: readonly Use[]): void {
    if (maxPercentOfFolder >= 100) return;
    for (const folder of new Set(added.flatMap(({ folders }) => folders ?? []))) {
      const counted = all.filter(({ folders }) => folders === undefined || folders.includes(folder));
      const changed = new Set(counted.map(({ ref }) => ref));
      // A member that was deleted within the hour still counts, so that the folder does not shrink with each deletion.
      const members = new Set([...this.facts.membersOf(folder).map(({ ref }) => ref), ...changed]);
      const allowed = Math.floor((members.size * maxPercentOfFolder) / 100);
      if (changed.size <= allowed) continue;
      const where = folder === '' ? 'the instances in no folder' : `the folder ${folder}`;
      const before = new Set(counted.filter((use) => !added.includes(use)).map(({ ref }) => ref)).size;
      const oldest = Math.min(...counted.map(({ at }) => at));
      const details = {
        folder,
        members: members.size,
        maxPercentOfFolder,
        left: Math.max(0, allowed - before),
        ...(before > 0 && { moreAt: new Date(oldest + HOUR_MS).toISOString() }),
      };
      throw new DomainError(
        'BUDGET_EXHAUSTED',
        `${name} may change ${maxPercentOfFolder}% of ${where} in an hour, which is ${allowed} of ${members.size}: ${before} were changed, and this commit would change ${changed.size - before} more.`,
        { details },
      );
    }
  }
}
