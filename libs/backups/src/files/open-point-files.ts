import {
  Change,
  throwFirstRefusal,
  REHEARSAL_ID,
  type Audit,
  type Backend,
  type BackendDirectory,
  type BackupTarget,
  type BackupTargetStore,
  type Caller,
  type OpenedFiles,
  type Plan,
} from '@headgate/domain-contracts';
import type { BackupPoint } from '../backup-point.js';
import type { BackupStore, BackupStores } from '../backup-store.js';
import { findPoint, findTarget } from '../find-target.js';
import type { Manifest } from '../manifest.js';
import { readManifest } from '../restored-vm.js';
import { openDisks } from '../stored-disk.js';
import type { FileSession, FileSessions } from './file-sessions.js';

export interface OpenPointFilesDeps {
  readonly targets: BackupTargetStore;
  readonly stores: BackupStores;
  readonly backends: BackendDirectory;
  readonly sessions: FileSessions;
  readonly audit: Audit;
}

export interface PointFilesRequest {
  readonly target: string;
  readonly point: string;
  /** The context whose machine boots the guest. */
  readonly context: string;
}

interface Prepared {
  readonly request: PointFilesRequest;
  readonly backend: Backend;
  readonly target: BackupTarget;
  readonly store: BackupStore;
  readonly point: BackupPoint;
  readonly manifest: Manifest;
}

export const pointScope = (target: string, point: string): string => `backup/${target}/${point}`;

/** Opens the files of a backup, which stays as it is. */
export class OpenPointFiles extends Change<[request: PointFilesRequest], FileSession, Prepared> {
  constructor(private readonly deps: OpenPointFilesDeps) {
    super();
  }

  protected override async prepare(request: PointFilesRequest): Promise<Prepared> {
    const { targets, stores, backends } = this.deps;
    const backend = backends.get(request.context);
    backend.requireFor('vm', 'diskFiles');
    const target = findTarget(targets, request.target);
    const store = await stores.open(target);
    const point = await findPoint(store, request.point);
    return { request, backend, target, store, point, manifest: await readManifest(store, request.point) };
  }

  protected override planPrepared({ backend, manifest }: Prepared): Promise<Plan> {
    return backend.requireFor('vm', 'diskFiles').plan({ id: REHEARSAL_ID, diskCount: manifest.vm.disks.length });
  }

  protected override runPrepared(prepared: Prepared, caller: Caller): Promise<FileSession> {
    const { request, target, point } = prepared;
    const [subject, label] = [`backup-target/${target.name}`, `of ${point.ref} of ${point.time}`];
    return this.deps.audit.of(
      caller,
      'open files',
      subject,
      async () => {
        const scope = pointScope(target.id, point.id);
        const open = (id: string, signal: AbortSignal): Promise<OpenedFiles> => this.openFiles(prepared, id, signal);
        if (!this.deps.sessions.find({ scope, owner: caller.login }))
          throwFirstRefusal(await this.planPrepared(prepared));
        return this.deps.sessions.open({ scope, owner: caller.login, subject, label, open });
      },
      () => `${label}, in ${request.context}`,
    );
  }

  private async openFiles(
    { backend, store, point, manifest }: Prepared,
    id: string,
    signal: AbortSignal,
  ): Promise<OpenedFiles> {
    // Clean-ups would remove content that is being read.
    const lock = await store.lockForReading();
    try {
      const disks = await openDisks(store, point.id, manifest);
      const lost = AbortSignal.any([signal, lock.signal]);
      const files = await backend.requireFor('vm', 'diskFiles').open({ id, disks }, lost);
      lock.signal.addEventListener('abort', () => void files.close(), { once: true });
      void files.ended.then(() => lock.release()).catch(() => undefined);
      return files;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }
}
