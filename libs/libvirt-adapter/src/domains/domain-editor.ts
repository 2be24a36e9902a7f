import { DomainError } from '@headgate/domain-contracts';
import { describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import {
  formatMetadata,
  INSTANCE_PREFIX,
  INSTANCE_XMLNS,
  type InstanceMetadata,
} from '../domain-xml/instance-metadata.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { KeyedLock } from '../locks/concurrency.js';

export interface EditableDomain {
  readonly description: DomainDescription;
  readonly isActive: boolean;
  readonly isPersistent: boolean;
}

/** Reads and updates the service's metadata in a domain. Callers hold the domain's lock. */
export class DomainEditor {
  constructor(
    private readonly connection: LibvirtConnection,
    private readonly lock?: Pick<KeyedLock, 'expectHeld'>,
  ) {}

  /** @throws DomainError INSTANCE_NOT_FOUND */
  async read(uuid: string): Promise<EditableDomain> {
    const domain = await this.connection.domains.inspect(uuid);
    if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', 'The VM no longer exists.');
    return {
      description: describeDomain(domain.xml),
      isActive: domain.state.isActive,
      isPersistent: domain.isPersistent,
    };
  }

  /** Updates the metadata; libvirt emits an event for it. */
  async updateMetadata(uuid: string, change: (metadata: InstanceMetadata) => InstanceMetadata): Promise<void> {
    const { description, isActive, isPersistent } = await this.read(uuid);
    const { metadata, unreadable } = description;
    if (unreadable !== undefined) {
      throw new DomainError('WRONG_STATE', `${description.name} can't be tagged. ${unreadable} Correct it with virsh.`);
    }
    // A foreign domain gets metadata of its own. A copy of one of the service's domains keeps the original owner, and
    // so owns nothing.
    const updated = change(metadata.owner === '' ? { ...metadata, owner: uuid } : metadata);
    this.lock?.expectHeld(uuid);
    await this.connection.domains.setMetadata(uuid, {
      namespace: INSTANCE_XMLNS,
      prefix: INSTANCE_PREFIX,
      xml: formatMetadata(updated),
      inLiveDomain: isActive,
      inPersistentDomain: isPersistent,
    });
  }
}
