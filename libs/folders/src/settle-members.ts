import {
  messageOf,
  parseRef,
  SILENT_LOG,
  type Clock,
  type FolderAssignment,
  type FolderDelta,
  type Instance,
  type InstanceDirectory,
  type Log,
} from '@headgate/domain-contracts';
import type { Folders } from './folders.js';
import type { FolderTree } from './folder-tree.js';

/** The clocks of a cluster and of this machine may differ, and creation times are whole seconds. */
const CLOCK_MARGIN_MS = 60_000;
/** An instance without a creation time is bound only this soon after the upgrade. */
const UNDATED_LIMIT_MS = 60_000;
const RETRY_MS = 5_000;
/** A store has a limit for one change. */
const MAX_MEMBERS_PER_CHANGE = 1000;

export interface SettleMembersDeps {
  readonly folders: Folders;
  readonly directory: InstanceDirectory;
  /** Whether a context was listed completely and can be reached. */
  readonly isListed: (context: string) => boolean;
  readonly clock: Clock;
  readonly log?: Log;
}

/**
 * Ends the memberships of deleted instances when they are gone, and binds those of an earlier release, which knew only
 * refs, to the objects that have these refs when their context is listed for the first time. An object that could have
 * been created since the upgrade is never bound: the member is missing then.
 */
export class SettleMembers {
  private isPlanned = false;
  private cancelRetry: (() => void) | undefined;
  private unsubscribe: (() => void) | undefined;

  constructor(private readonly deps: SettleMembersDeps) {}

  open(): void {
    this.unsubscribe = this.deps.folders.subscribe(() => this.settle());
  }

  close(): void {
    this.unsubscribe?.();
    this.cancelRetry?.();
    this.isPlanned = true;
  }

  /** An instance is gone, or a context was listed. Calls during one change are served by one more after it. */
  settle(): void {
    const { folders, clock, log = SILENT_LOG } = this.deps;
    if (this.isPlanned || folders.tree.pending().size === 0) return;
    this.isPlanned = true;
    let isPart = false;
    const describe = (tree: FolderTree): FolderDelta => {
      this.isPlanned = false;
      const settled = this.settled(tree);
      isPart = settled.length > MAX_MEMBERS_PER_CHANGE;
      return { ...tree.unchanged(), assigned: settled.slice(0, MAX_MEMBERS_PER_CHANGE).flat() };
    };
    folders.change(describe).then(
      () => {
        if (isPart) this.settle();
      },
      (error: unknown) => {
        log.warn({ reason: messageOf(error) }, 'the members of the folders could not be updated');
        this.cancelRetry?.();
        this.cancelRetry = clock.after(RETRY_MS, () => this.settle());
      },
    );
  }

  /** The changes of each member that can be settled now. */
  private settled(tree: FolderTree): (readonly FolderAssignment[])[] {
    const { directory, isListed } = this.deps;
    return [...tree.pending()].flatMap((member) => {
      const ref = parseRef(member.ref);
      if (!isListed(ref.context)) return [];
      const instance = directory.get(ref);
      if (member.state === 'unbound') return [tree.bind(member, this.uidFor(instance)).assigned];
      return instance?.uid === member.uid ? [] : [tree.unassign(member).assigned];
    });
  }

  /** The ID of an instance that a member of an earlier release must have been; empty if it could be another one. */
  private uidFor(instance: Instance | undefined): string {
    const { folders, clock } = this.deps;
    if (!instance) return '';
    const createdAtMs = Date.parse(instance.createdAt ?? '');
    const isOld = Number.isNaN(createdAtMs)
      ? clock.now() <= folders.boundSinceMs + UNDATED_LIMIT_MS
      : createdAtMs < folders.boundSinceMs - CLOCK_MARGIN_MS;
    return isOld ? instance.uid : '';
  }
}
