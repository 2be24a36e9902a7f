import { DomainError } from '@headgate/domain-contracts';
import { describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import {
  formatMetadata,
  INSTANCE_PREFIX,
  INSTANCE_XMLNS,
  type InstanceMetadata,
} from '../domain-xml/instance-metadata.js';
import { parseDomainState } from '../domains/domain-state.js';
import type { Virsh } from '../virsh/virsh.js';

export interface EditableDomain {
  readonly description: DomainDescription;
  readonly isActive: boolean;
  readonly isPersistent: boolean;
}

/** Reads and changes what the service notes in a domain's description. Callers hold the domain's lock. */
export class DomainEditor {
  constructor(private readonly virsh: Virsh) {}

  /** @throws DomainError INSTANCE_NOT_FOUND */
  async read(uuid: string): Promise<EditableDomain> {
    const [xml = '', state = '', info = ''] = await this.virsh.batch([
      ['dumpxml', uuid],
      ['domstate', uuid],
      ['dominfo', uuid],
    ]);
    if (xml.trim() === '') throw new DomainError('INSTANCE_NOT_FOUND', 'The VM is not there any more.');
    return {
      description: describeDomain(xml),
      isActive: parseDomainState(state).isActive,
      isPersistent: /^Persistent:\s+yes$/m.test(info),
    };
  }

  /** Changes the note; libvirt tells everybody who listens. */
  async note(uuid: string, change: (metadata: InstanceMetadata) => InstanceMetadata): Promise<void> {
    const { description, isActive, isPersistent } = await this.read(uuid);
    const { metadata } = description;
    // A domain of somebody else's gets a note of its own. One copied from ours keeps the owner it was copied with, and so owns nothing.
    const noted = change(metadata.owner === '' ? { ...metadata, owner: uuid } : metadata);
    const where = [...(isPersistent ? ['--config'] : []), ...(isActive ? ['--live'] : [])];
    await this.virsh.run([
      'metadata',
      uuid,
      INSTANCE_XMLNS,
      '--key',
      INSTANCE_PREFIX,
      '--set',
      formatMetadata(noted),
      ...where,
    ]);
  }
}
