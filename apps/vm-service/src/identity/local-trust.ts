import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { TRUST_KINDS, type TrustKind } from '@headgate/api-contracts';
import { normalizeAddress } from '@headgate/nest-kit';
import type { PeerUsers } from '../platform/peer-users.js';

export { TRUST_KINDS, type TrustKind };

export interface LocalTrustOptions {
  /** Whether everyone on this machine is trusted. */
  readonly open: boolean;
  /** User IDs that are trusted besides root's, the service's own and that of the user who used sudo to start it. */
  readonly trustedUids: readonly number[];
  /** Present: browsers send the cookie of the session over TLS only. */
  readonly tls?: object | undefined;
}

export type PeerRequest = Pick<IncomingMessage, 'headers' | 'socket' | 'rawHeaders'> &
  Partial<Pick<IncomingMessage, 'method'>>;

/**
 * The users that libvirt runs guests as. A guest may reach the host's loopback through its QEMU, so they are never
 * trusted.
 */
const GUEST_USERS = ['libvirt-qemu', 'qemu'];
const COOKIE = 'headgate-session';
const LOOPBACK = /^(?:127\.|::1$)/;
const TOKEN_BYTES = 24;

/**
 * Whether a loopback peer is trusted. Loopback is not one person: other users of the machine and the guests of its
 * hypervisor can reach it, too.
 */
export class LocalTrust {
  readonly kind: TrustKind;
  private readonly trusted: ReadonlySet<number>;
  private readonly users = new WeakMap<object, number | undefined>();
  private readonly session = randomToken();
  private token: string | undefined;
  private readonly cookieFlags: string;

  constructor(
    { open, trustedUids, tls }: LocalTrustOptions,
    private readonly peers: PeerUsers,
    guests: readonly number[] = guestUids(),
  ) {
    this.cookieFlags = `Path=/; HttpOnly; SameSite=Strict${tls ? '; Secure' : ''}`;
    this.kind = open ? 'open' : peers.isSupported ? 'users' : 'token';
    const all = [0, process.getuid?.(), sudoUid(), ...trustedUids].filter((uid) => uid !== undefined);
    this.trusted = new Set(all.filter((uid) => !guests.includes(uid)));
    if (this.kind === 'token') this.token = randomToken();
  }

  /** The trusted user IDs, in ascending order. */
  get uids(): readonly number[] {
    return [...this.trusted].sort((a, b) => a - b);
  }

  /** The token that lets one browser in. It can be redeemed once. */
  get oneTimeToken(): string | undefined {
    return this.token;
  }

  /** @returns undefined, or the remedy for a peer that is not trusted; a peer on another machine is not judged here */
  refusal(request: PeerRequest): string | undefined {
    if (this.kind === 'open' || !LOOPBACK.test(normalizeAddress(request.socket.remoteAddress ?? ''))) return undefined;
    if (this.kind === 'token') return this.hasSession(request) ? undefined : TOKEN_REMEDY;
    const uid = this.userOf(request.socket);
    if (uid !== undefined && this.trusted.has(uid)) return undefined;
    return (
      `${uid === undefined ? 'The user of this connection' : `The user ID ${uid}`} is not trusted on this machine. ` +
      'Add it to SVC_TRUSTED_UIDS, or start the service with --open to trust every local user.'
    );
  }

  /**
   * Exchanges the one-time token for a session.
   * @returns the Set-Cookie header, or undefined for a wrong or used token
   */
  redeem(token: string): string | undefined {
    if (this.token === undefined || !isSame(token, this.token)) return undefined;
    this.token = undefined;
    return `${COOKIE}=${this.session}; ${this.cookieFlags}`;
  }

  private hasSession({ headers }: PeerRequest): boolean {
    const cookies = (headers.cookie ?? '').split(/;\s*/);
    return cookies.some((cookie) => isSame(cookie, `${COOKIE}=${this.session}`));
  }

  /** Looked up once per connection: its user can't change. */
  private userOf(socket: PeerRequest['socket']): number | undefined {
    if (!this.users.has(socket)) this.users.set(socket, this.peers.userOf(socket));
    return this.users.get(socket);
  }
}

const TOKEN_REMEDY =
  'This browser is not signed in. Open the address with the token that the service printed at its start.';

const randomToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function sudoUid(): number | undefined {
  const text = process.env['SUDO_UID'] ?? '';
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

function guestUids(): number[] {
  try {
    const users = readFileSync('/etc/passwd', 'utf8').split('\n');
    return users
      .map((line) => line.split(':'))
      .filter(([name = '']) => GUEST_USERS.includes(name))
      .map(([, , uid]) => Number(uid));
  } catch {
    return [];
  }
}
