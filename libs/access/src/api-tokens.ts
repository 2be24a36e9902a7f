import { timingSafeEqual } from 'node:crypto';
import {
  DomainError,
  type ApiToken,
  type ApiTokenChange,
  type ApiTokenStore,
  type Clock,
} from '@headgate/domain-contracts';
import { hashToken, tokenId } from './token-text.js';

/** A busy token must not cost a write per request. */
const LAST_USED_INTERVAL_MS = 60_000;
/** Compared with when the ID is unknown, so that its answer takes as long. */
const NO_HASH = hashToken('');

/** Recognizes API tokens, and ends the connections of those that expire or are revoked, also by another replica. */
export class ApiTokens {
  private readonly connections = new Map<string, Set<() => void>>();
  /** The tokens with which connections were opened, by ID and as text. */
  private readonly opened = new Map<string, string>();
  /** When this process has last recorded a use, by the ID of the token. */
  private readonly recordedAt = new Map<string, number>();

  constructor(
    private readonly store: ApiTokenStore,
    private readonly clock: Clock,
  ) {
    // For as long as the store is open: an instance lives as long as its process.
    store.subscribe(() => this.closeChanged());
  }

  /**
   * The token that a client has presented.
   * @param isFrom whether the client has one of the given addresses
   * @throws DomainError NOT_PERMITTED with the same message whatever is wrong with it; NOT_READY while it can't be
   *   checked
   */
  authenticate(text: string, isFrom: (addresses: readonly string[]) => boolean): ApiToken {
    const id = tokenId(text);
    const known = id === undefined ? undefined : this.store.get(id);
    // Digests have the same length, and comparing them reveals nothing about the token.
    const isSame = timingSafeEqual(Buffer.from(hashToken(text)), Buffer.from(known?.hash ?? NO_HASH));
    if (!known || !isSame || this.isExpired(known) || !isUsedFromItsAddresses(known, isFrom)) {
      throw new DomainError(
        'NOT_PERMITTED',
        'The API token is unknown, expired or revoked, or not valid for your address.',
      );
    }
    this.recordUse(known);
    return known;
  }

  /**
   * A token that was presented before, for work that its client has planned.
   * @throws DomainError NOT_PERMITTED when it is expired or revoked; NOT_READY while it can't be checked
   */
  expectUsable(id: string): ApiToken {
    const known = this.store.get(id);
    if (known && !this.isExpired(known)) return known;
    throw new DomainError('NOT_PERMITTED', `The API token ${id.slice(0, 40)} is expired or revoked.`);
  }

  isExpired({ expiresAt }: Pick<ApiToken, 'expiresAt'>): boolean {
    return Date.parse(expiresAt) <= this.clock.now();
  }

  /**
   * Closes a long connection, such as a stream or a console, when its token expires or is revoked.
   * @returns call it when the connection has ended
   */
  closeWith(id: string, close: () => void): () => void {
    const token = this.store.get(id);
    if (!token) {
      close();
      return () => undefined;
    }
    // Another replica has changed the token, and its report is still on the way.
    if (!this.isSame(id)) this.closeAll(id);
    const connections = this.connections.get(id) ?? new Set();
    this.connections.set(id, connections.add(close));
    this.opened.set(id, rightsOf(token));
    const cancel = this.closeAt(Date.parse(token.expiresAt), close);
    return () => {
      cancel();
      connections.delete(close);
      if (connections.size === 0 && this.connections.get(id) === connections) this.forget(id);
    };
  }

  /** @throws DomainError TOKEN_NOT_FOUND */
  async revoke(id: string): Promise<void> {
    if (!(await this.store.delete(id))) throw tokenNotFound(id);
    this.closeAll(id);
  }

  /**
   * Changes a token, and closes the connections that were opened before.
   * @param formerHash changes it only if it has this hash
   * @throws DomainError TOKEN_NOT_FOUND; CONFLICT for another hash
   */
  async change(id: string, change: ApiTokenChange, formerHash?: string): Promise<void> {
    if (!(await this.store.update(id, change, formerHash))) {
      if (this.store.get(id) === undefined) throw tokenNotFound(id);
      throw new DomainError('CONFLICT', 'The API token was rotated by another request at the same time.');
    }
    this.closeAll(id);
  }

  private closeChanged(): void {
    for (const id of [...this.connections.keys(), ...this.recordedAt.keys()]) if (!this.isSame(id)) this.closeAll(id);
  }

  /** A token that can't be checked may have been changed or revoked. */
  private isSame(id: string): boolean {
    try {
      const token = this.store.get(id);
      const opened = this.opened.get(id);
      return token !== undefined && (opened === undefined || opened === rightsOf(token));
    } catch {
      return false;
    }
  }

  private closeAll(id: string): void {
    for (const close of [...(this.connections.get(id) ?? [])]) close();
    this.forget(id);
    this.recordedAt.delete(id);
  }

  private forget(id: string): void {
    this.connections.delete(id);
    this.opened.delete(id);
  }

  /** A timer can't wait for longer than `MAX_TIMER_MS`. */
  private closeAt(timeMs: number, close: () => void): () => void {
    let cancel = (): void => undefined;
    const wait = (): void => {
      const leftMs = timeMs - this.clock.now();
      if (leftMs <= 0) return close();
      cancel = this.clock.after(Math.min(leftMs, MAX_TIMER_MS), wait);
    };
    wait();
    return () => cancel();
  }

  /** A use that can't be recorded, because the disk is full for example, must not fail the request. */
  private recordUse({ id, lastUsedAt }: ApiToken): void {
    const now = this.clock.now();
    const usedAt = Math.max(this.recordedAt.get(id) ?? 0, lastUsedAt === null ? 0 : Date.parse(lastUsedAt));
    if (now - usedAt < LAST_USED_INTERVAL_MS) return;
    this.recordedAt.set(id, now);
    this.store.setLastUsed(id, this.clock.iso()).catch(() => undefined);
  }
}

export const tokenNotFound = (id: string): DomainError =>
  new DomainError('TOKEN_NOT_FOUND', `There is no API token ${id.slice(0, 40)}.`);

/** All that decides who may use a token for what, as text. */
const rightsOf = ({ hash, creator, actions, addresses, agent, isStopped, scope, expiresAt }: ApiToken): string =>
  JSON.stringify([hash, creator, actions, addresses, agent, isStopped, scope, expiresAt]);

const isUsedFromItsAddresses = (
  { addresses = [] }: ApiToken,
  isFrom: (addresses: readonly string[]) => boolean,
): boolean => addresses.length === 0 || isFrom(addresses);

const MAX_TIMER_MS = 24 * 60 * 60_000;
