import {
  buildPlan,
  Change,
  type Audit,
  type BackupTarget,
  type BackupTargetStore,
  type Caller,
  type Plan,
} from '@headgate/domain-contracts';
import { pointsOf, type BackupPoint } from './backup-point.js';
import type { BackupStore, BackupStores } from './backup-store.js';
import { findPoint, findTarget } from './find-target.js';

export interface PointsDeps {
  readonly targets: BackupTargetStore;
  readonly stores: BackupStores;
}

/** Lists the points of VMs in a target. */
export class ListPoints {
  constructor(private readonly deps: PointsDeps) {}

  /** The newest first. @throws DomainError BACKUP_TARGET_NOT_FOUND, BACKEND_FAILED */
  async run(target: string): Promise<readonly BackupPoint[]> {
    const { targets, stores } = this.deps;
    const store = await stores.open(findTarget(targets, target));
    return pointsOf(await store.snapshots());
  }
}

interface PreparedPoint {
  readonly target: BackupTarget;
  readonly store: BackupStore;
  readonly point: BackupPoint;
}

/** Deletes a point. The space of its content is free after the next clean-up of the target. */
export class DeletePoint extends Change<[target: string, id: string], void, PreparedPoint> {
  constructor(private readonly deps: PointsDeps & { readonly audit: Audit }) {
    super();
  }

  protected override async prepare(target: string, id: string): Promise<PreparedPoint> {
    const found = findTarget(this.deps.targets, target);
    const store = await this.deps.stores.open(found);
    return { target: found, store, point: await findPoint(store, id) };
  }

  protected override async planPrepared({ target, store, point }: PreparedPoint): Promise<Plan> {
    const [newest] = pointsOf(await store.snapshots()).filter(({ uid }) => uid === point.uid);
    const detail = `Delete the backup of ${point.ref} of ${point.time} in ${target.name}.`;
    const warnings = newest?.id === point.id ? [`It is the newest backup of ${point.ref} in this target.`] : [];
    return buildPlan([{ name: 'delete', detail }], { warnings });
  }

  protected override async runPrepared({ target, store, point }: PreparedPoint, caller: Caller): Promise<void> {
    await this.deps.audit.of(
      caller,
      'delete backup',
      `backup-target/${target.name}`,
      () => store.forget([point.id]),
      () => `of ${point.ref} of ${point.time}`,
    );
  }
}
