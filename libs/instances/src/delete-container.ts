import type { FolderDirectory, FoundInstance, Plan } from '@headgate/domain-contracts';
import { InstanceChange, type InstanceChangeDeps } from './instance-change.js';

export interface DeleteContainerDeps extends InstanceChangeDeps {
  readonly folders: Pick<FolderDirectory, 'endWith'>;
}

/** Deletes a container and its data volume. */
export class DeleteContainer extends InstanceChange<'containers'> {
  protected override readonly ability = 'containers';

  constructor(protected override readonly deps: DeleteContainerDeps) {
    super(deps);
  }

  protected override operationOf() {
    return 'delete' as const;
  }

  protected override actionOf(): string {
    return 'delete';
  }

  protected override planOn({ ref, ability }: FoundInstance<'containers'>): Promise<Plan> {
    return ability.planDelete(ref);
  }

  protected override runOn({ instance, ref, ability }: FoundInstance<'containers'>): Promise<void> {
    return this.deps.folders.endWith(instance, () => ability.delete(ref));
  }

  protected override settle({ ref, uid }: FoundInstance<'containers'>): Promise<void> {
    return this.deps.directory.waitFor(ref, (instance) => instance?.uid !== uid);
  }
}
