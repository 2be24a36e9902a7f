import {
  bySshKeyName,
  byViewRank,
  type OwnedObject,
  type OwnedStore,
  type SavedView,
  type SavedViewStore,
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
