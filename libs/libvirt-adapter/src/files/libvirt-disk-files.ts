import { constants } from 'node:fs';
import { chmod, copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DiskFiles,
  DomainError,
  isProofId,
  messageOf,
  throwFirstRefusal,
  type Clock,
  type FilesSpec,
  type Log,
  type OpenedFiles,
  type Plan,
} from '@headgate/domain-contracts';
import { connectSocket } from '../consoles/connect-socket.js';
import { READER_FILES, readerNames } from '../domains/proof-names.js';
import { NbdExportServer } from '../nbd/nbd-export-server.js';
import { ProofMarks } from '../proof/proof-marks.js';
import { readVolumes } from './answers.js';
import { OpenedReader } from './opened-reader.js';
import { planReader, READER_MEMORY_BYTES, type PlannedReader, type ReaderPlanDeps } from './reader-plan.js';
import { ReaderPort } from './reader-port.js';
import { readerXml } from './reader-xml.js';

export interface LibvirtDiskFilesDeps extends ReaderPlanDeps {
  /** The private folder of this context. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** For the guest to boot, and for one answer. Default: 2 minutes, and 60 s. */
  readonly timeouts?: { readonly bootMs: number; readonly answerMs: number };
}

const TIMEOUTS = { bootMs: 120_000, answerMs: 60_000 };

interface Running {
  readonly cancel: AbortController;
  /** Resolves when nothing is left of it. */
  ended: Promise<void>;
}

/** Reads disks that this process serves over NBD in a transient domain, which boots the reader guest. */
export class LibvirtDiskFiles extends DiskFiles {
  private readonly running = new Map<string, Running>();
  private readonly marks: ProofMarks;

  constructor(private readonly deps: LibvirtDiskFilesDeps) {
    super();
    this.marks = new ProofMarks(deps.folder, 'files');
  }

  override async plan(request: { readonly id: string; readonly diskCount: number }): Promise<Plan> {
    return (await this.planned(request.id, request.diskCount)).plan;
  }

  override async open(spec: FilesSpec, signal: AbortSignal): Promise<OpenedFiles> {
    const { id, disks } = spec;
    if (!isProofId(id)) throw new DomainError('INVALID_INPUT', 'id: use a UUID in lower case.');
    if (this.running.has(id)) throw new DomainError('BUSY', `The session ${id} is open already.`);
    const cancel = new AbortController();
    let leave = (): void => undefined;
    // Before the plan, so that two sessions at the same time see each other.
    const entry: Running = { cancel, ended: new Promise((resolve) => (leave = resolve)) };
    this.running.set(id, entry);
    const free = (): void => {
      this.running.delete(id);
      leave();
    };
    try {
      const planned = await this.planned(id, disks.length);
      throwFirstRefusal(planned.plan);
      return await this.start(spec, planned, { ending: cancel, signal, free, ended: entry.ended });
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Removes what earlier processes of this service have left. */
  async sweep(): Promise<void> {
    for (const id of (await this.marks.all()).keys()) {
      if (this.running.has(id)) continue;
      await this.remove(id).catch((error: unknown) => this.warn(id, error));
    }
  }

  /** Ends all sessions, and waits until nothing is left of them. */
  async close(): Promise<void> {
    const all = [...this.running.values()];
    for (const { cancel } of all) cancel.abort(new DomainError('SHUTTING_DOWN', 'The service is stopping.'));
    await Promise.all(all.map(({ ended }) => ended));
  }

  private planned(id: string, diskCount: number): Promise<PlannedReader> {
    const others = [...this.running.keys()].filter((other) => other !== id).length;
    return planReader({ id, diskCount }, this.deps, others);
  }

  private async start(
    spec: FilesSpec,
    planned: PlannedReader,
    session: {
      /** Ends the session with its reason. */
      readonly ending: AbortController;
      readonly signal: AbortSignal;
      readonly free: () => void;
      readonly ended: Promise<void>;
    },
  ): Promise<OpenedFiles> {
    const { id, disks } = spec;
    const { ending, free, ended } = session;
    const { pool } = this.deps;
    const signal = AbortSignal.any([session.signal, ending.signal]);
    signal.throwIfAborted();
    await pool.ensure();
    await this.marks.add(id, disks.length);
    const folder = `${await pool.path()}/${readerNames(id).folder}`;
    const server = new NbdExportServer({
      path: join(folder, READER_FILES.disks),
      exports: new Map(disks.map((disk, index) => [`disk${index}`, disk])),
      onFailure: (name, error) => {
        const disk = disks[Number(name.slice(4))]?.name ?? name;
        this.deps.log.warn({ disk, reason: messageOf(error) }, 'a disk whose files are read can not be read');
      },
    });
    const ports: ReaderPort[] = [];
    let closing: Promise<void> | undefined;
    const end = (): Promise<void> =>
      (closing ??= (async () => {
        ending.abort(new DomainError('BACKEND_FAILED', 'The session for the files has ended.'));
        // The guest first: QEMU would wait for its disks otherwise.
        await this.destroy(id).catch(() => undefined);
        await server.close();
        // The mark stays after a failure, so that the next start of the service tries again.
        await this.remove(id).catch((error: unknown) => this.warn(id, error));
        free();
      })());
    try {
      await pool.createPrivateFolder(readerNames(id).folder, planned.owner);
      await this.copyGuest(folder);
      await server.listen();
      signal.throwIfAborted();
      await this.deps.connection.domains.createPaused(this.xmlOf(spec, planned, folder));
      for (const name of READER_FILES.ports) ports.push(await this.connect(join(folder, name), end));
      signal.throwIfAborted();
      await this.deps.connection.domains.resume(id);
      const [port, ...downloads] = ports as [ReaderPort, ...ReaderPort[]];
      const volumes = await aborting(signal, async () => {
        const { bootMs } = this.deps.timeouts ?? TIMEOUTS;
        await Promise.all(ports.map((one) => one.greeting(bootMs)));
        return readVolumes(
          await port.ask('V', Buffer.alloc(0)),
          disks.map(({ name }) => name),
        );
      });
      ending.signal.addEventListener('abort', () => void end(), { once: true });
      return new OpenedReader({ volumes, port, downloads, ended, end });
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** libvirt gives the files to QEMU's user, and the built ones stay as they are. */
  private async copyGuest(folder: string): Promise<void> {
    const from = this.deps.readerGuest ?? '';
    for (const [name, file] of [
      [READER_FILES.kernel, 'kernel'],
      [READER_FILES.initrd, 'initrd'],
    ] as const) {
      await copyFile(join(from, file), join(folder, name), constants.COPYFILE_FICLONE);
      await chmod(join(folder, name), 0o644);
    }
  }

  private async connect(path: string, end: () => Promise<void>): Promise<ReaderPort> {
    const socket = await connectSocket({ path });
    const port = new ReaderPort(socket as never, {
      clock: this.deps.clock,
      timeoutMs: (this.deps.timeouts ?? TIMEOUTS).answerMs,
      onBroken: () => void end(),
    });
    // Also between questions.
    socket.once('close', () => void end()).on('error', () => undefined);
    return port;
  }

  private xmlOf({ id, disks }: FilesSpec, { host }: PlannedReader, folder: string): string {
    return readerXml({
      name: readerNames(id).domain,
      uuid: id,
      accelerator: host.accelerator,
      memoryBytes: READER_MEMORY_BYTES,
      kernel: join(folder, READER_FILES.kernel),
      initrd: join(folder, READER_FILES.initrd),
      disksSocket: join(folder, READER_FILES.disks),
      diskCount: disks.length,
      ports: READER_FILES.ports.map((name) => join(folder, name)),
    });
  }

  /** Only the domain of this session, never another one of its name or UUID. */
  private async destroy(id: string): Promise<void> {
    const { domains } = this.deps.connection;
    const found = await domains.lookUp(readerNames(id).domain);
    if (found?.uuid !== id) return;
    try {
      await domains.destroy(id);
    } catch (error) {
      if (!DomainError.is(error, 'INSTANCE_NOT_FOUND', 'WRONG_STATE')) throw error;
    }
  }

  private async remove(id: string): Promise<void> {
    const { pool } = this.deps;
    await this.destroy(id);
    if ((await pool.state())?.isActive) {
      const folder = `${await pool.path()}/${readerNames(id).folder}`;
      for (const name of Object.values(READER_FILES).flat()) await rm(join(folder, name), { force: true });
      await pool.remove(readerNames(id).folder);
    }
    await this.marks.remove(id);
  }

  private warn(id: string, error: unknown): void {
    this.deps.log.warn({ session: id, reason: messageOf(error) }, 'a session for files was not removed completely');
  }
}

/** @throws the reason of the signal at once */
function aborting<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
