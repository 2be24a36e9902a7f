import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';

/** Subfolders of the private folder. */
const DOWNLOADS = 'fetching';
const TEMPORARY_FILES = 'temporary';

interface Work {
  readonly cancel: AbortController;
  /** Resolves when the work has stopped. */
  finished: Promise<unknown>;
}

/**
 * The VMs that this process is currently creating. The metadata of such a domain names the service by an identity that
 * is kept in the data folder, which distinguishes leftovers of a crash from the work of another service.
 */
export class WorkInProgress {
  private readonly running = new Map<string, Work>();
  private identity?: string;
  /** Whether work ends because the service stops. */
  isClosing = false;
  /** Names of the folders that this run created. */
  private readonly ownFolders = new Set<string>();

  /** @param folder private to one context of one service */
  constructor(private readonly folder: string) {}

  /** The mark of domains that this service is filling. */
  mark(): string {
    this.identity ??= this.readIdentity() ?? this.writeIdentity();
    return this.identity;
  }

  begin(uuid: string): void {
    this.running.set(uuid, { cancel: new AbortController(), finished: Promise.resolve() });
  }

  /** Aborted when the VM is removed while it is being filled; undefined if it was removed already. */
  signal(uuid: string): AbortSignal | undefined {
    return this.running.get(uuid)?.cancel.signal;
  }

  /** Registers the running work; a removal of the VM waits for it. */
  track<T>(uuid: string, work: Promise<T>): Promise<T> {
    const entry = this.running.get(uuid);
    if (entry) entry.finished = work.catch(() => undefined);
    return work;
  }

  end(uuid: string): void {
    this.running.delete(uuid);
  }

  /** Cancels the filling of one VM and waits until it has stopped. */
  async cancel(uuid: string): Promise<void> {
    const work = this.running.get(uuid);
    work?.cancel.abort();
    await work?.finished;
    this.running.delete(uuid);
  }

  /** Cancels all work because the service stops. */
  async cancelAll(): Promise<void> {
    this.isClosing = true;
    await Promise.all([...this.running.keys()].map((uuid) => this.cancel(uuid)));
  }

  /** Whether an earlier run of this service ended while it was filling the domain. */
  isInterrupted({ owner, provisioning }: InstanceMetadata, uuid: string): boolean {
    return owner === uuid && provisioning !== undefined && provisioning === this.mark() && !this.running.has(uuid);
  }

  /** Creates a private folder for one download. */
  createFolder(): Promise<string> {
    return this.create(DOWNLOADS, 'image-');
  }

  /** Removes the downloads and temporary files that an earlier run left behind when it was killed. */
  async sweep(): Promise<void> {
    for (const kind of [DOWNLOADS, TEMPORARY_FILES]) {
      const parent = join(this.folder, kind);
      const names = await readdir(parent).catch(() => []);
      const leftovers = names.filter((name) => !this.ownFolders.has(name));
      await Promise.all(leftovers.map((name) => rm(join(parent, name), { recursive: true, force: true })));
    }
  }

  /** Creates a private folder for temporary files. The caller removes it. */
  createTemporaryFolder(): Promise<string> {
    return this.create(TEMPORARY_FILES, 'xml-');
  }

  private async create(kind: string, prefix: string): Promise<string> {
    const name = `${prefix}${randomUUID()}`;
    // Before it exists, so that a sweep never takes it for a leftover.
    this.ownFolders.add(name);
    const created = join(this.folder, kind, name);
    await mkdir(created, { recursive: true, mode: 0o700 });
    return created;
  }

  private get identityFile(): string {
    return join(this.folder, 'service-id');
  }

  private readIdentity(): string | undefined {
    try {
      return readFileSync(this.identityFile, 'utf8').trim() || undefined;
    } catch {
      return undefined;
    }
  }

  private writeIdentity(): string {
    const identity = randomUUID();
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.identityFile, identity, { mode: 0o600 });
    return identity;
  }
}
