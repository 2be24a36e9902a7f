import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  Change,
  DomainError,
  formatBytes,
  throwFirstRefusal,
  REHEARSAL_ID,
  type Audit,
  type Backend,
  type BackupTarget,
  type BackupTargetStore,
  type BackendDirectory,
  type Caller,
  type DefinedTask,
  type Plan,
} from '@headgate/domain-contracts';
import { originOf, type BackupPoint } from './backup-point.js';
import type { BackupStores } from './backup-store.js';
import { findPoint, findTarget } from './find-target.js';
import type { Manifest } from './manifest.js';
import type { ProveInput, ProveTask } from './prove-task.js';
import { readManifest } from './restored-vm.js';

export interface ProvePointDeps {
  readonly targets: BackupTargetStore;
  readonly stores: BackupStores;
  readonly backends: BackendDirectory;
  readonly definition: Pick<ProveTask, 'isProving'>;
  readonly task: DefinedTask<ProveInput>;
  readonly audit: Audit;
}

export type ProveRequest = Omit<ProveInput, 'id'>;

interface Prepared {
  readonly request: ProveRequest;
  readonly backend: Backend;
  readonly target: BackupTarget;
  readonly point: BackupPoint;
  /** Absent if it is damaged: then the certificate says so. */
  readonly manifest?: Manifest;
}

/** Boots a point in isolation, and stores a certificate, as a task. @returns the ID of the task */
export class ProvePoint extends Change<[request: ProveRequest], string, Prepared> {
  constructor(private readonly deps: ProvePointDeps) {
    super();
  }

  protected override async prepare(request: ProveRequest): Promise<Prepared> {
    const { targets, stores, backends } = this.deps;
    const backend = backends.get(request.context);
    const target = findTarget(targets, request.target);
    const store = await stores.open(target);
    const point = await findPoint(store, request.point);
    const manifest = await readManifest(store, request.point).catch((error: unknown) => {
      if (!DomainError.is(error, 'BACKEND_FAILED')) throw error;
      return undefined;
    });
    return { request, backend, target, point, ...(manifest && { manifest }) };
  }

  protected override async planPrepared({ request, backend, point, manifest }: Prepared): Promise<Plan> {
    const ability = backend.requireFor('vm', 'bootProof');
    const certificate = { name: 'certify', detail: 'Sign a certificate, and store it.' };
    if (!manifest) return buildPlan([certificate], { warnings: ['The manifest of the backup is damaged.'] });
    const { command, readAll } = request;
    const boot = await ability.plan({
      id: REHEARSAL_ID,
      vm: manifest.vm,
      ...originOf(point),
      ...(command && { command }),
    });
    // A backend that copies the disks has read all of them.
    const comparesAll = readAll || boot.readsAll === true;
    const verify = {
      name: 'verify',
      detail: `Read all ${formatBytes(point.sizeBytes)} of the disks, and compare them with their hashes.`,
    };
    const isProving = this.deps.definition.isProving(request.target, request.point);
    const busy = { code: 'BUSY', reason: 'The backup is being booted already.', remedy: 'Wait for its end.' } as const;
    return buildPlan([...boot.steps, ...(readAll && boot.readsAll !== true ? [verify] : []), certificate], {
      warnings: [
        ...boot.warnings,
        ...(comparesAll ? [] : ['Only the parts that the guest reads are compared with their hashes.']),
      ],
      refusals: [...(isProving ? [busy] : []), ...boot.refusals],
    });
  }

  protected override runPrepared(prepared: Prepared, caller: Caller): Promise<string> {
    const { request, target, point } = prepared;
    const { audit, task } = this.deps;
    return audit.of(
      caller,
      'prove backup',
      `backup-target/${target.name}`,
      async () => {
        throwFirstRefusal(await this.planPrepared(prepared));
        const input: ProveInput = { ...request, id: randomUUID() };
        return task.start({ name: target.name, ref: '', input }, caller);
      },
      () => `of ${point.ref} of ${point.time}, in ${request.context}`,
    );
  }
}
