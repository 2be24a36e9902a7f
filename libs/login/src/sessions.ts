import { randomBytes } from 'node:crypto';
import { DomainError, type Clock, type LoginSession, type LoginSessionStore } from '@headgate/domain-contracts';
import { hashSecret, hasHash, randomSecret } from './one-time-secret.js';

export interface SessionLimits {
  /** How long a session lasts without a request. */
  readonly idleMs: number;
  /** How long a session lasts in any case. */
  readonly totalMs: number;
}

/** A user who has logged in, and where. */
export type NewSession = Pick<LoginSession, 'login' | 'name' | 'groups' | 'provider' | 'idToken' | 'address' | 'agent'>;

/** A session, and the text that the browser presents for it. Nothing else knows the text. */
export interface OpenedSession {
  readonly session: LoginSession;
  readonly text: string;
}

export const MAX_SESSIONS_PER_USER = 20;
const MAX_SESSIONS = 5_000;
/** A busy page must not cost a write per request, and an idle session of another replica must not seem to be over. */
const LAST_USED_INTERVAL_MS = 60_000;
/** Requests with texts of no session must not read the store without a limit. */
const MAX_RELOADS = 20;
const ID_BYTES = 9;
const MAX_TIMER_MS = 24 * 60 * 60_000;
const PATTERN = /^([\w-]{12})\.[\w-]{43}$/;

/** The sessions of users who have logged in. Streams and sockets that a session has opened end with it. */
export class Sessions {
  private readonly connections = new Map<string, Set<() => void>>();
  /** When a session was used, by its ID: more recent than in the store. */
  private readonly used = new Map<string, number>();
  /** When this process has last recorded a use, by the ID of the session. */
  private readonly recordedAt = new Map<string, number>();
  private reloads = 0;

  constructor(
    private readonly store: LoginSessionStore,
    private readonly clock: Clock,
    private readonly limits: SessionLimits,
  ) {
    // For as long as the store is open: an instance lives as long as its process.
    store.subscribe(() => this.closeEnded());
  }

  /** Opens a session with a new ID and secret, whatever the browser has presented before. */
  async open(user: NewSession): Promise<OpenedSession> {
    await this.makeRoomFor(user.login);
    const { id, text } = newText();
    const now = this.clock.iso();
    const expiresAt = new Date(this.clock.now() + this.limits.totalMs).toISOString();
    const session = { ...user, id, hash: hashSecret(text), createdAt: now, lastUsedAt: now, expiresAt };
    await this.store.put(session);
    return { session, text };
  }

  /** Reads a session that another replica may have opened just now. Call it before `authenticate`. */
  async prepare(text: string): Promise<void> {
    const [, id] = PATTERN.exec(text) ?? [];
    if (id === undefined || this.reloads >= MAX_RELOADS) return;
    const known = this.find(id);
    if (known && hasHash(text, known.hash)) return;
    this.reloads++;
    try {
      await this.store.reload(id);
    } catch {
      // The session is refused, or the store reports that it can't be reached.
    } finally {
      this.reloads--;
    }
  }

  /**
   * The session of a text that a browser presents; undefined whatever is wrong with it.
   * @throws DomainError NOT_READY while it can't be checked
   */
  authenticate(text: string): LoginSession | undefined {
    const [, id] = PATTERN.exec(text) ?? [];
    const session = id === undefined ? undefined : this.store.get(id);
    if (!session || !hasHash(text, session.hash) || this.isOver(session)) return undefined;
    this.recordUse(session);
    return session;
  }

  /** Gives a session a new secret; the former one is refused. @returns undefined if the session has ended */
  async rotate(id: string): Promise<string | undefined> {
    const { text } = newText(id);
    const changed = await this.store.change(id, (session) => ({ ...session, hash: hashSecret(text) }));
    return changed && text;
  }

  /** The sessions that can be used, the last used first. */
  all(): readonly LoginSession[] {
    return this.store
      .all()
      .filter((session) => !this.isOver(session))
      .map((session) => ({ ...session, lastUsedAt: new Date(this.lastUse(session)).toISOString() }))
      .sort((a, b) => (a.lastUsedAt === b.lastUsedAt ? (a.id < b.id ? -1 : 1) : a.lastUsedAt < b.lastUsedAt ? 1 : -1));
  }

  /** @throws DomainError SESSION_NOT_FOUND */
  expect(id: string): LoginSession {
    const session = this.store.get(id);
    if (session && !this.isOver(session)) return session;
    throw new DomainError('SESSION_NOT_FOUND', `There is no session ${id.slice(0, 40)}.`);
  }

  /** Ends a session. Its streams and sockets are closed. */
  async end(id: string): Promise<void> {
    await this.store.delete(id);
    this.closeAll(id);
  }

  /** Ends the sessions of a user. @param except the ID of one that stays */
  async endOf(login: string, except?: string): Promise<void> {
    // Another replica may have opened one just now.
    await this.store.reload();
    for (const { id } of this.store.all().filter((one) => one.login === login && one.id !== except)) await this.end(id);
  }

  /**
   * Closes a long connection, such as a stream or a console, when its session ends.
   * @returns call it when the connection has ended
   */
  closeWith(id: string, close: () => void): () => void {
    const session = this.find(id);
    if (!session || this.isOver(session)) {
      close();
      return () => undefined;
    }
    const connections = this.connections.get(id) ?? new Set();
    this.connections.set(id, connections.add(close));
    const cancel = this.closeWhenOver(id, close);
    return () => {
      cancel();
      connections.delete(close);
      if (connections.size === 0 && this.connections.get(id) === connections) this.connections.delete(id);
    };
  }

  /** A use in the meantime moves the end of an idle session. */
  private closeWhenOver(id: string, close: () => void): () => void {
    let cancel = (): void => undefined;
    const wait = (): void => {
      const session = this.find(id);
      const leftMs = session ? this.endOfTime(session) - this.clock.now() : 0;
      if (leftMs <= 0) return close();
      cancel = this.clock.after(Math.min(leftMs, MAX_TIMER_MS), wait);
    };
    wait();
    return () => cancel();
  }

  /** After a change by another replica, or while sessions can't be checked. */
  private closeEnded(): void {
    for (const id of [...this.connections.keys(), ...this.used.keys()]) if (!this.find(id)) this.closeAll(id);
  }

  /** A session that can't be checked may have ended. */
  private find(id: string): LoginSession | undefined {
    try {
      return this.store.get(id);
    } catch {
      return undefined;
    }
  }

  private closeAll(id: string): void {
    for (const close of [...(this.connections.get(id) ?? [])]) close();
    this.connections.delete(id);
    this.used.delete(id);
    this.recordedAt.delete(id);
  }

  private lastUse({ id, lastUsedAt }: LoginSession): number {
    return Math.max(this.used.get(id) ?? 0, Date.parse(lastUsedAt));
  }

  private endOfTime(session: LoginSession): number {
    return Math.min(Date.parse(session.expiresAt), this.lastUse(session) + this.limits.idleMs);
  }

  private isOver(session: LoginSession): boolean {
    return this.endOfTime(session) <= this.clock.now();
  }

  /** A use that can't be recorded, because the disk is full for example, must not fail the request. */
  private recordUse({ id, lastUsedAt }: LoginSession): void {
    const now = this.clock.now();
    this.used.set(id, now);
    const recordedAt = Math.max(this.recordedAt.get(id) ?? 0, Date.parse(lastUsedAt));
    if (now - recordedAt < LAST_USED_INTERVAL_MS) return;
    this.recordedAt.set(id, now);
    const time = this.clock.iso();
    this.store
      .change(id, (session) => (session.lastUsedAt >= time ? undefined : { ...session, lastUsedAt: time }))
      .catch(() => undefined);
  }

  /** Ends the sessions that are over, and those of the user or of all users that were used least recently. */
  private async makeRoomFor(login: string): Promise<void> {
    for (const session of this.store.all()) if (this.isOver(session)) await this.end(session.id);
    const all = this.all();
    const own = all.filter((session) => session.login === login);
    const surplus = [...own.slice(MAX_SESSIONS_PER_USER - 1), ...all.slice(MAX_SESSIONS - 1)];
    for (const { id } of surplus) await this.end(id);
  }
}

function newText(id = randomBytes(ID_BYTES).toString('base64url')): { id: string; text: string } {
  return { id, text: `${id}.${randomSecret()}` };
}
