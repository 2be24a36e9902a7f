import {
  buildPlan,
  Change,
  DomainError,
  type Audit,
  type Caller,
  type Clock,
  type Plan,
  type SshKey,
  type SshKeyStore,
} from '@headgate/domain-contracts';
import { parseSshKey } from './parse-ssh-key.js';

export const MAX_KEYS_PER_OWNER = 20;
/** Of all owners together. */
export const MAX_SSH_KEYS = 2000;
const MAX_NAME_LENGTH = 100;

export interface SshKeyRequest {
  readonly owner: string;
  readonly key: string;
  /** Default: the comment of the key. */
  readonly name?: string;
}

/** Stores a public key of a user. */
export class AddSshKey extends Change<[request: SshKeyRequest], SshKey, SshKey> {
  constructor(
    private readonly store: SshKeyStore,
    private readonly clock: Clock,
    private readonly audit: Audit,
  ) {
    super();
  }

  /** @throws DomainError INVALID_INPUT, CONFLICT when there are too many keys */
  protected override prepare({ owner, key, name }: SshKeyRequest): SshKey {
    const { id, key: line, comment, type } = parseSshKey(key);
    const known = this.store.of(owner);
    if (!known.some((one) => one.id === id)) {
      if (known.length >= MAX_KEYS_PER_OWNER)
        throw new DomainError('CONFLICT', `You have ${MAX_KEYS_PER_OWNER} SSH keys already; remove one of them.`);
      if (this.store.count() >= MAX_SSH_KEYS)
        throw new DomainError('CONFLICT', `The service has ${MAX_SSH_KEYS} SSH keys already; remove some of them.`);
    }
    const shown = (name ?? comment).trim().slice(0, MAX_NAME_LENGTH);
    return { owner, id, name: shown === '' ? type : shown, key: line, addedAt: this.clock.iso() };
  }

  protected override async planPrepared({ name }: SshKey): Promise<Plan> {
    return buildPlan([{ name: 'add SSH key', detail: name }]);
  }

  protected override async runPrepared(key: SshKey, caller: Caller): Promise<SshKey> {
    await this.audit.of(caller, 'add SSH key', `ssh-key/${key.id}`, () => this.store.put(key));
    return key;
  }
}

/** Removes a public key of a user. VMs that were created with it keep it. */
export class RemoveSshKey extends Change<[owner: string, id: string], void, SshKey> {
  constructor(
    private readonly store: SshKeyStore,
    private readonly audit: Audit,
  ) {
    super();
  }

  /** @throws DomainError SSH_KEY_NOT_FOUND, also for a key of another user */
  protected override prepare(owner: string, id: string): SshKey {
    const found = this.store.of(owner).find((one) => one.id === id);
    if (!found) throw new DomainError('SSH_KEY_NOT_FOUND', `You have no SSH key ${id.slice(0, 64)}.`);
    return found;
  }

  protected override async planPrepared({ name }: SshKey): Promise<Plan> {
    return buildPlan([{ name: 'remove SSH key', detail: name }]);
  }

  protected override async runPrepared({ owner, id }: SshKey, caller: Caller): Promise<void> {
    await this.audit.of(caller, 'remove SSH key', `ssh-key/${id}`, async () => {
      await this.store.delete(owner, id);
    });
  }
}
