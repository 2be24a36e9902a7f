import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';

interface Work {
  readonly cancel: AbortController;
  /** Resolves when nothing of it runs any more. */
  finished: Promise<unknown>;
}

/**
 * The VMs that this process is filling right now. A domain's description names the service that fills it, by an identity
 * kept in the data folder: what such a mark is left on after a crash can be told from another service's work.
 */
export class WorkInProgress {
  private readonly running = new Map<string, Work>();
  private identity?: string;

  /** @param folder private to one context of one service */
  constructor(private readonly folder: string) {}

  /** What marks a domain as being filled by this service. */
  mark(): string {
    this.identity ??= this.readIdentity() ?? this.writeIdentity();
    return this.identity;
  }

  begin(uuid: string): void {
    this.running.set(uuid, { cancel: new AbortController(), finished: Promise.resolve() });
  }

  /** Aborted when the VM is removed while it is being filled; undefined when it was removed before. */
  signal(uuid: string): AbortSignal | undefined {
    return this.running.get(uuid)?.cancel.signal;
  }

  /** The part that runs now; a removal of the VM waits for it. */
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

  async cancelAll(): Promise<void> {
    await Promise.all([...this.running.keys()].map((uuid) => this.cancel(uuid)));
  }

  /** Whether a domain was being filled by this service when it ended the last time. */
  isInterrupted({ owner, provisioning }: InstanceMetadata, uuid: string): boolean {
    return owner === uuid && provisioning !== undefined && provisioning === this.mark() && !this.running.has(uuid);
  }

  /** A private folder for what is being fetched. */
  async makeFolder(): Promise<string> {
    const parent = join(this.folder, 'fetching');
    await mkdir(parent, { recursive: true, mode: 0o700 });
    return mkdtemp(join(parent, 'image-'));
  }

  /** What an earlier run was fetching is of no use. */
  clearFolders(): void {
    rmSync(join(this.folder, 'fetching'), { recursive: true, force: true });
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
