import { findInstance, type InstanceQuery, type InstanceSources, type Snapshot } from '@headgate/domain-contracts';

/** Lists the snapshots of an instance. */
export class ListSnapshots {
  constructor(private readonly deps: InstanceSources) {}

  /** The oldest first. */
  async list(query: InstanceQuery): Promise<readonly Snapshot[]> {
    const { ref, ability } = findInstance(this.deps, query, 'snapshots');
    return ability.list(ref);
  }
}
