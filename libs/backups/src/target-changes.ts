import { randomBytes } from 'node:crypto';
import {
  buildPlan,
  Change,
  DomainError,
  UnavailableAbility,
  type Audit,
  type BackendDirectory,
  type BackupTarget,
  type BackupTargetStore,
  type Caller,
  type Clock,
  type Plan,
} from '@headgate/domain-contracts';
import type { BackupStores } from './backup-store.js';
import { findTarget } from './find-target.js';

export interface TargetChangeDeps {
  readonly targets: BackupTargetStore;
  readonly stores: BackupStores;
  readonly audit: Audit;
  readonly clock: Clock;
}

export type NewTarget = Pick<BackupTarget, 'name' | 'kind' | 'path' | 'password'>;

const MAX_TARGETS = 32;
const ID_BYTES = 8;

/** Adds a target, and creates its repository or opens the one that exists. */
export class AddTarget extends Change<[request: NewTarget], BackupTarget, NewTarget> {
  constructor(private readonly deps: TargetChangeDeps) {
    super();
  }

  /** Checked when it is recorded, so that a refusal has an entry in the audit log. */
  protected override prepare(request: NewTarget): NewTarget {
    return request;
  }

  protected override async planPrepared(request: NewTarget): Promise<Plan> {
    await this.expectPossible(request);
    return buildPlan([{ name: 'add target', detail: `Create or open the repository ${request.path}.` }]);
  }

  protected override async runPrepared(request: NewTarget, caller: Caller): Promise<BackupTarget> {
    const { targets, stores, audit, clock } = this.deps;
    return audit.of(
      caller,
      'add backup target',
      `backup-target/${request.name}`,
      async () => {
        await this.expectPossible(request);
        const id = randomBytes(ID_BYTES).toString('hex');
        const target: BackupTarget = { owner: '', id, ...request, creator: caller.login, createdAt: clock.iso() };
        await stores.prepare(target);
        // Another request may have been faster.
        await this.expectPossible(request);
        await targets.put(target);
        return target;
      },
      ({ path }) => `at ${path}`,
    );
  }

  private async expectPossible({ name, path }: NewTarget): Promise<void> {
    const { targets, stores } = this.deps;
    const all = targets.all();
    if (all.some((target) => target.name === name))
      throw new DomainError('ALREADY_EXISTS', `name: there is a backup target ${name} already.`);
    if (all.some((target) => target.path === path))
      throw new DomainError('ALREADY_EXISTS', `path: another backup target is at ${path}.`);
    if (all.length >= MAX_TARGETS)
      throw new DomainError('WRONG_STATE', `There are ${MAX_TARGETS} backup targets already: remove one first.`);
    await stores.expectAllowed(path);
  }
}

/** Removes a target, and the checkpoints of its backups. Its repository stays as it is. */
export class RemoveTarget extends Change<[id: string], void, BackupTarget> {
  constructor(
    private readonly deps: Pick<TargetChangeDeps, 'targets' | 'stores' | 'audit'> & {
      readonly backends: BackendDirectory;
    },
  ) {
    super();
  }

  protected override prepare(id: string): BackupTarget {
    return findTarget(this.deps.targets, id);
  }

  protected override async planPrepared({ name, path }: BackupTarget): Promise<Plan> {
    return buildPlan([
      { name: 'remove target', detail: `Forget ${name} and its password. The repository ${path} stays.` },
      { name: 'remove checkpoints', detail: `Stop recording the changes of VMs since their last backup to ${name}.` },
    ]);
  }

  protected override async runPrepared({ id, name }: BackupTarget, caller: Caller): Promise<void> {
    const { targets, stores, audit } = this.deps;
    await audit.of(
      caller,
      'remove backup target',
      `backup-target/${name}`,
      async () => {
        await targets.delete('', id);
        stores.forget(id);
        return this.endSeries(id);
      },
      (failed) => (failed.length > 0 ? `the checkpoints in ${failed.join(', ')} remain` : ''),
    );
  }

  /** @returns the contexts in which checkpoints may remain */
  private async endSeries(series: string): Promise<string[]> {
    const ended = this.deps.backends.all().map(async (backend) => {
      const source = backend.ability('backupSource');
      if (source instanceof UnavailableAbility) return [];
      return source.endAll(series).then(
        () => [],
        () => [backend.context],
      );
    });
    return (await Promise.all(ended)).flat();
  }
}
