import {
  byInstanceUid,
  byMessageName,
  byScheduleName,
  bySshKeyName,
  byViewRank,
  type MessageChannel,
  type MessageChannelStore,
  type MessageRule,
  type MessageRuleStore,
  type OwnedObject,
  type OwnedStore,
  type SavedView,
  type SavedViewStore,
  type Schedule,
  type ScheduledSnapshots,
  type ScheduledSnapshotStore,
  type ScheduleStore,
  type SshKey,
  type SshKeyStore,
} from '@headgate/domain-contracts';

/** An OwnedStore in memory. */
class MemoryOwnedStore<T extends OwnedObject> implements OwnedStore<T> {
  private readonly objects: T[] = [];

  constructor(private readonly order: (a: T, b: T) => number) {}

  async put(object: T): Promise<void> {
    await this.delete(object.owner, object.id);
    this.objects.push({ ...object });
  }

  async delete(owner: string, id: string): Promise<boolean> {
    const index = this.objects.findIndex((one) => one.owner === owner && one.id === id);
    return index !== -1 && this.objects.splice(index, 1).length > 0;
  }

  of(owner: string): readonly T[] {
    return this.objects.filter((one) => one.owner === owner).sort(this.order);
  }

  count(): number {
    return this.objects.length;
  }

  all(): readonly T[] {
    return [...this.objects].sort(this.order);
  }

  async change(owner: string, id: string, change: (stored: T) => T | undefined): Promise<T | undefined> {
    const index = this.objects.findIndex((one) => one.owner === owner && one.id === id);
    const stored = this.objects[index];
    const next = stored && change(stored);
    if (next) this.objects[index] = { ...next };
    return next ?? stored;
  }
}

/** SshKeyStore in memory. */
export class MemorySshKeyStore extends MemoryOwnedStore<SshKey> implements SshKeyStore {
  constructor() {
    super(bySshKeyName);
  }
}

/** SavedViewStore in memory. */
export class MemorySavedViewStore extends MemoryOwnedStore<SavedView> implements SavedViewStore {
  constructor() {
    super(byViewRank);
  }
}

/** ScheduleStore in memory. */
export class MemoryScheduleStore extends MemoryOwnedStore<Schedule> implements ScheduleStore {
  constructor() {
    super(byScheduleName);
  }
}

/** ScheduledSnapshotStore in memory. */
export class MemoryScheduledSnapshotStore
  extends MemoryOwnedStore<ScheduledSnapshots>
  implements ScheduledSnapshotStore
{
  constructor() {
    super(byInstanceUid);
  }
}

/** MessageChannelStore in memory. */
export class MemoryMessageChannelStore extends MemoryOwnedStore<MessageChannel> implements MessageChannelStore {
  constructor() {
    super(byMessageName);
  }
}

/** MessageRuleStore in memory. */
export class MemoryMessageRuleStore extends MemoryOwnedStore<MessageRule> implements MessageRuleStore {
  constructor() {
    super(byMessageName);
  }
}
