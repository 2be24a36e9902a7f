import {
  Change,
  DomainError,
  findInstance,
  formatRef,
  isRunningStatus,
  isVm,
  refusal,
  throwFirstRefusal,
  withAbility,
  workOn,
  REHEARSAL_ID,
  type Audit,
  type Caller,
  type DiskFiles,
  type FoundInstance,
  type InstanceQuery,
  type InstanceRef,
  type InstanceSources,
  type OpenedFiles,
  type Plan,
  type ProofDisk,
  type Refusal,
  type Reservations,
  type Work,
} from '@headgate/domain-contracts';
import type { FileSession, FileSessions } from './file-sessions.js';

export interface OpenVmFilesDeps extends InstanceSources {
  readonly reservations: Reservations;
  readonly sessions: FileSessions;
  readonly audit: Audit;
}

interface Prepared {
  readonly found: FoundInstance<'backupSource'>;
  readonly files: DiskFiles;
  readonly work: Work;
  readonly snapshot?: string;
}

/** No checkpoint is kept, so that no series has one of this name. */
const SERIES = 'files';

export const vmScope = (ref: InstanceRef): string => formatRef(ref);

/**
 * Opens the files on the disks of a stopped VM, which can't be started meanwhile, or those of one of its snapshots,
 * which can't be deleted or restored meanwhile.
 */
export class OpenVmFiles extends Change<[query: InstanceQuery, snapshot?: string], FileSession, Prepared> {
  constructor(private readonly deps: OpenVmFilesDeps) {
    super();
  }

  /** The VM of a query, whose sessions are looked up. @throws DomainError like `InstanceDirectory.resolve` */
  scopeOf(query: InstanceQuery): string {
    return vmScope(this.deps.directory.resolve(query).ref);
  }

  protected override prepare(query: InstanceQuery, snapshot?: string): Prepared {
    const found = findInstance(this.deps, query, 'backupSource');
    const { ability: files } = withAbility(this.deps.backends, found.instance, 'diskFiles');
    const work = workOn('read-files', found.ref);
    if (snapshot === undefined) return { found, files, work };
    // The guest writes to other layers, so that the VM may be started and stopped.
    const uses = work.uses.map(({ subject }) => ({ subject, mode: 'present' }) as const);
    return { found, files, work: { ...work, uses }, snapshot };
  }

  protected override planPrepared({ found, files, work, snapshot }: Prepared): Promise<Plan> {
    return this.deps.reservations.plan(work, async () => {
      // The number of disks is known only when they are opened.
      const plan = await files.plan({ id: REHEARSAL_ID, diskCount: 1 });
      return { ...plan, refusals: [...(await refusalsOf(found, snapshot)), ...plan.refusals] };
    });
  }

  protected override async runPrepared(prepared: Prepared, caller: Caller): Promise<FileSession> {
    const { snapshot } = prepared;
    const { ref } = prepared.found;
    const label = snapshot === undefined ? '' : `of its snapshot ${snapshot}`;
    const { audit, sessions } = this.deps;
    const scope = vmScope(ref);
    const open = (id: string, signal: AbortSignal): Promise<OpenedFiles> => this.openFiles(prepared, id, signal);
    const wanted = { scope, owner: caller.login, subject: scope, label, ...(snapshot !== undefined && { snapshot }) };
    return audit.of(
      caller,
      'open files',
      ref,
      () => sessions.open({ ...wanted, open }),
      () => label,
    );
  }

  private async openFiles(prepared: Prepared, id: string, signal: AbortSignal): Promise<OpenedFiles> {
    const { found, files, work, snapshot } = prepared;
    const reservation = await this.deps.reservations.acquire(work);
    const release: (() => Promise<void> | void)[] = [() => reservation.release()];
    const releaseAll = async (): Promise<void> => {
      for (const one of release.splice(0).reverse()) await one();
    };
    try {
      // The VM may have been started or deleted while the request waited.
      const { ref, uid } = found;
      const now = findInstance(this.deps, { ...ref, uid }, 'backupSource');
      throwFirstRefusal({ refusals: await refusalsOf(now, snapshot) });
      const disks = await this.openDisks(now, snapshot, release, signal);
      const opened = await files.open({ id, disks }, signal);
      void opened.ended.then(releaseAll).catch(() => undefined);
      return opened;
    } catch (error) {
      await releaseAll();
      throw error;
    }
  }

  private async openDisks(
    { ref, ability }: FoundInstance<'backupSource'>,
    snapshot: string | undefined,
    release: (() => Promise<void> | void)[],
    signal: AbortSignal,
  ): Promise<readonly ProofDisk[]> {
    if (snapshot !== undefined) {
      const saved = await ability.openSnapshot(ref, snapshot, signal);
      release.push(() => saved.close());
      return saved.disks;
    }
    const reading = await ability.open(ref, { series: SERIES }, signal);
    release.push(() => reading.close({ keep: false }));
    if (reading.consistency !== 'stopped') throw new DomainError('WRONG_STATE', RUNNING(ref.name));
    return reading.disks;
  }
}

const RUNNING = (name: string): string => `${name} runs, and its disks change while they are read.`;

async function refusalsOf(
  { instance, ref, ability }: FoundInstance<'backupSource'>,
  snapshot: string | undefined,
): Promise<readonly Refusal[]> {
  // Its disks are checked when they are opened.
  if (snapshot !== undefined) return [];
  if (isVm(instance) && isRunningStatus(instance.status))
    return [refusal('WRONG_STATE', RUNNING(ref.name), 'Stop it, or open the files of a backup.')];
  return ability.check(ref);
}
