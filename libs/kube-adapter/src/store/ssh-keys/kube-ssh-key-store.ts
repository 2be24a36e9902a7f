import { bySshKeyName, SILENT_LOG, SshKeyStore, type Log, type SshKey } from '@headgate/domain-contracts';
import { SERVICE_SSH_KEYS } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { hashedName } from '../hashed-name.js';
import { WatchedObjects } from '../watched-objects.js';

interface SshKeySpec {
  readonly sshKey: SshKey;
}

const objectNameOf = (owner: string, id: string): string => hashedName('sshkey', JSON.stringify([owner, id]));

const isSshKey = ({ sshKey }: Partial<SshKeySpec>): boolean =>
  [sshKey?.owner, sshKey?.id, sshKey?.name, sshKey?.key, sshKey?.addedAt].every((field) => typeof field === 'string');

/** SshKeyStore in custom resources of a cluster, one for each key. */
export class KubeSshKeyStore extends SshKeyStore {
  private readonly objects: WatchedObjects<SshKeySpec>;

  constructor(store: ClusterStore, log: Log = SILENT_LOG) {
    super();
    this.objects = new WatchedObjects(store, {
      resource: SERVICE_SSH_KEYS,
      subject: 'SSH key',
      isComplete: isSshKey,
      log,
    });
  }

  /** @throws DomainError NOT_READY when the keys can't be used; they are left as they are */
  open(): Promise<void> {
    return this.objects.open();
  }

  close(): Promise<void> {
    return this.objects.close();
  }

  override put(sshKey: SshKey): Promise<void> {
    return this.objects.put(objectNameOf(sshKey.owner, sshKey.id), () => ({ sshKey }));
  }

  override async delete(owner: string, id: string): Promise<boolean> {
    const object = this.objects.get(objectNameOf(owner, id));
    return object ? this.objects.delete(object) : false;
  }

  override of(owner: string): readonly SshKey[] {
    return this.objects
      .all()
      .map(({ spec }) => ({ ...spec.sshKey }))
      .filter((one) => one.owner === owner)
      .sort(bySshKeyName);
  }

  override count(): number {
    return this.objects.all().length;
  }
}
