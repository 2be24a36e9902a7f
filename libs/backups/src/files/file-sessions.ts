import { randomUUID } from 'node:crypto';
import { DomainError, type Clock, type OpenedFiles } from '@headgate/domain-contracts';

/** A guest that reads the files of one backup or one VM, for one user. */
export interface FileSession {
  readonly id: string;
  /** The backup or the VM. The routes of another one do not find the session. */
  readonly scope: string;
  /** The snapshot of the VM; absent for its disks of now, and for a backup. */
  readonly snapshot?: string;
  /** The login of the user, whom the session belongs to. */
  readonly owner: string;
  /** By which the journal names the disks. */
  readonly subject: string;
  /** What else it says about them, such as "of vm/lab/default/db of 2026-01-02T03:04:05Z". May be empty. */
  readonly label: string;
  readonly files: OpenedFiles;
}

export interface NewFileSession extends Omit<FileSession, 'id' | 'files'> {
  /**
   * Opens the disks and the guest. Releases the disks when `ended` of the files resolves.
   * @param id for the guest
   */
  readonly open: (id: string, signal: AbortSignal) => Promise<OpenedFiles>;
}

/** Without a question and without a part of a download, a session ends after this time. */
export const FILE_SESSION_IDLE_MS = 10 * 60_000;
const MAX_SESSIONS = 20;

interface Kept {
  readonly session: FileSession;
  idle: () => void;
}

/** The sessions of this process. They end with it, and are never resumed. */
export class FileSessions {
  private readonly kept = new Map<string, Kept>();
  /** By scope and owner, so that two requests at the same time open one guest. */
  private readonly opening = new Map<string, Promise<FileSession>>();
  private readonly closing = new AbortController();

  constructor(private readonly clock: Clock) {}

  /**
   * The session of this user for the same disks, or a new one.
   * @throws DomainError BUSY when too many are open, and the errors of `open`
   */
  async open(wanted: NewFileSession): Promise<FileSession> {
    const { scope, owner, snapshot } = wanted;
    const found = this.find(wanted);
    if (found) return this.used(found);
    const key = JSON.stringify([scope, owner, snapshot]);
    const known = this.opening.get(key);
    if (known) return known;
    if (this.kept.size + this.opening.size >= MAX_SESSIONS)
      throw new DomainError('BUSY', `${MAX_SESSIONS} sessions for files are open: close one of them.`);
    const opening = this.create(wanted).finally(() => this.opening.delete(key));
    this.opening.set(key, opening);
    return opening;
  }

  /** The session that this user has open for the same disks. */
  find({ scope, owner, snapshot }: Pick<FileSession, 'scope' | 'owner' | 'snapshot'>): FileSession | undefined {
    for (const { session } of this.kept.values())
      if (session.scope === scope && session.owner === owner && session.snapshot === snapshot) return session;
    return undefined;
  }

  /** @throws DomainError FILE_SESSION_NOT_FOUND, also for a session of another user or of other disks */
  get(id: string, scope: string, owner: string): FileSession {
    const found = this.kept.get(id)?.session;
    if (found?.scope !== scope || found.owner !== owner)
      throw new DomainError('FILE_SESSION_NOT_FOUND', 'The session for these files has ended: open the files again.');
    return this.used(found);
  }

  /** Begins the time without use again. */
  used(session: FileSession): FileSession {
    const kept = this.kept.get(session.id);
    if (!kept) return session;
    kept.idle();
    kept.idle = this.clock.after(FILE_SESSION_IDLE_MS, () => void session.files.close());
    return session;
  }

  /** Ends all sessions, and waits until nothing is left of them. */
  async close(): Promise<void> {
    this.closing.abort(new DomainError('SHUTTING_DOWN', 'The service is stopping.'));
    await Promise.allSettled(this.opening.values());
    await Promise.allSettled([...this.kept.values()].map(({ session }) => session.files.close()));
  }

  private async create({ open, ...wanted }: NewFileSession): Promise<FileSession> {
    this.closing.signal.throwIfAborted();
    const id = randomUUID();
    const files = await open(id, this.closing.signal);
    const session: FileSession = { id, ...wanted, files };
    this.kept.set(id, { session, idle: () => undefined });
    void files.ended.then(() => {
      this.kept.get(id)?.idle();
      this.kept.delete(id);
    });
    return this.used(session);
  }
}
