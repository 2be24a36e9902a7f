import { bySshKeyName, SshKeyStore, type SshKey } from '@headgate/domain-contracts';

/** SshKeyStore in memory. */
export class MemorySshKeyStore extends SshKeyStore {
  private readonly keys: SshKey[] = [];

  override async put(key: SshKey): Promise<void> {
    await this.delete(key.owner, key.id);
    this.keys.push({ ...key });
  }

  override async delete(owner: string, id: string): Promise<boolean> {
    const index = this.keys.findIndex((one) => one.owner === owner && one.id === id);
    return index !== -1 && this.keys.splice(index, 1).length > 0;
  }

  override of(owner: string): readonly SshKey[] {
    return this.keys.filter((one) => one.owner === owner).sort(bySshKeyName);
  }

  override count(): number {
    return this.keys.length;
  }
}
