import { findInstance, type Hardware, type InstanceQuery, type InstanceSources } from '@headgate/domain-contracts';

/** Reads the virtual hardware of an instance. */
export class ReadHardware {
  constructor(private readonly deps: InstanceSources) {}

  async read(query: InstanceQuery): Promise<Hardware> {
    const { ref, ability } = findInstance(this.deps, query, 'hardware');
    return ability.read(ref);
  }
}
