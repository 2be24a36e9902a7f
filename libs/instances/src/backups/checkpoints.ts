import {
  findInstance,
  type Checkpoint,
  type FoundInstance,
  type InstanceQuery,
  type InstanceSources,
  type Plan,
} from '@headgate/domain-contracts';
import { InstanceChange, type Permit } from '../instance-change.js';

/** Lists the checkpoints of a VM. */
export class ListCheckpoints {
  constructor(private readonly deps: InstanceSources) {}

  /** The oldest first. */
  async list(query: InstanceQuery): Promise<readonly Checkpoint[]> {
    const { ref, ability } = findInstance(this.deps, query, 'backups');
    return ability.list(ref);
  }
}

/** Deletes a checkpoint: the changes since then are no longer recorded. */
export class DeleteCheckpoint extends InstanceChange<'backups', [name: string]> {
  protected override readonly ability = 'backups';

  protected override operationOf() {
    return 'delete-checkpoint' as const;
  }

  protected override actionOf(name: string): string {
    return `delete checkpoint ${name}`;
  }

  protected override planOn({ ref, ability }: FoundInstance<'backups'>, name: string): Promise<Plan> {
    return ability.planDelete(ref, name);
  }

  protected override runOn({ ref, ability }: FoundInstance<'backups'>, _permit: Permit, name: string): Promise<void> {
    return ability.delete(ref, name);
  }
}
