import { DomainError } from '@headgate/domain-contracts';
import { normalizeAddress } from '@headgate/nest-kit';
import type { CallerIdentity } from './caller-identity.js';
import { hostName } from './edge-policy.js';
import type { PeerRequest } from './local-trust.js';

const LOOPBACK = /^(?:127\.|::1$)/;
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
/** The headers of proxies. With one of them, the browser is elsewhere. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'via'];

const REFUSAL =
  'Log in over HTTPS: set tls.certificate and tls.key, or let the trusted proxy send X-Forwarded-Proto: https.';

/** How a browser reaches the service. A password or a session must not cross the network in the clear. */
export class SecureConnection {
  constructor(
    private readonly settings: { readonly tls?: object | undefined },
    private readonly identity: CallerIdentity,
  ) {}

  /** Whether the browser speaks TLS, with the service or with a trusted proxy. */
  isEncrypted(request: PeerRequest): boolean {
    if (this.settings.tls) return true;
    return request.headers['x-forwarded-proto'] === 'https' && this.identity.isFromProxy(request);
  }

  /** Why a login over this connection is refused; undefined if it is not. */
  refusal(request: PeerRequest): string | undefined {
    return this.isEncrypted(request) || isOnThisMachine(request) ? undefined : REFUSAL;
  }

  /** @throws DomainError NOT_PERMITTED */
  expectSafe(request: PeerRequest): void {
    const refusal = this.refusal(request);
    if (refusal !== undefined) throw new DomainError('NOT_PERMITTED', refusal);
  }

  /** The address of the page as the browser has it. The edge has checked the Host header. */
  originOf(request: PeerRequest): string {
    return `${this.isEncrypted(request) ? 'https' : 'http'}://${request.headers.host ?? ''}`;
  }
}

/** A proxy on this machine has the same peer address, but the name of another host or headers of its own. */
const isOnThisMachine = ({ headers, socket }: PeerRequest): boolean =>
  LOOPBACK.test(normalizeAddress(socket.remoteAddress ?? '')) &&
  LOOPBACK_NAMES.includes(hostName((headers.host ?? '').toLowerCase())) &&
  FORWARDED.every((name) => headers[name] === undefined);
