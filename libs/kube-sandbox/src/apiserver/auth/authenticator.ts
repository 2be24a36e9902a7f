import { generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { UserInfo } from '../admission.js';
import { unauthorized } from '../api-error.js';

export const ADMIN: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };
const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Browsers send a token as a WebSocket subprotocol with this prefix. */
export const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

export function serviceAccountUser(namespace: string, name: string): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    uid: randomUUID(),
  };
}

const ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface ServiceAccountToken {
  readonly namespace: string;
  readonly name: string;
  /** The uid of the ServiceAccount. */
  readonly uid: string;
  /** In seconds since 1970. */
  readonly issuedAt: number;
  readonly lifetimeSeconds: number;
  /** Default: the API server itself. */
  readonly audiences?: readonly string[];
}

/** Maps bearer tokens to users. */
export class Authenticator {
  private readonly users = new Map<string, UserInfo>();
  /** Created with the first token that it signs. */
  private key: KeyObject | undefined;

  /** @param anonymous the user of requests without a token: the administrator when access is not restricted */
  constructor(private readonly anonymous: 'admin' | 'anonymous') {}

  /** Issues a new token for a user. */
  issue(user: UserInfo): string {
    const token = randomBytes(24).toString('base64url');
    this.users.set(token, user);
    return token;
  }

  /** Requests with this token get 401 from now on, as with an expired token. */
  revoke(token: string): void {
    this.users.delete(token);
  }

  /** Issues a token of a service account: a signed JWT, whose claims clients may read. */
  issueForServiceAccount({ namespace, name, uid, issuedAt, lifetimeSeconds, audiences }: ServiceAccountToken): string {
    const claims = {
      aud: audiences ?? [ISSUER],
      exp: issuedAt + lifetimeSeconds,
      iat: issuedAt,
      iss: ISSUER,
      jti: randomUUID(),
      'kubernetes.io': { namespace, serviceaccount: { name, uid } },
      nbf: issuedAt,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const token = this.signed(claims);
    this.users.set(token, { ...serviceAccountUser(namespace, name), uid });
    return token;
  }

  private signed(claims: object): string {
    this.key ??= generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
    const text = `${encode({ alg: 'ES256', kid: 'sandbox' })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(text), { key: this.key, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  }

  /** @throws ApiError 401 for an unknown token */
  authenticate(headers: IncomingHttpHeaders): UserInfo {
    const token = bearerToken(headers);
    if (token === undefined) return this.anonymous === 'admin' ? ADMIN : ANONYMOUS;
    const user = this.users.get(token);
    if (!user) throw unauthorized();
    return impersonated(user, headers);
  }
}

function bearerToken(headers: IncomingHttpHeaders): string | undefined {
  const [scheme = '', token] = (headers.authorization ?? '').split(' ');
  if (scheme.toLowerCase() === 'bearer' && token) return token;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
  const carrier = protocols.find((protocol) => protocol.startsWith(BEARER_PROTOCOL));
  return carrier && Buffer.from(carrier.slice(BEARER_PROTOCOL.length), 'base64url').toString('utf8');
}

/** Impersonation (`kubectl --as`), for administrators. */
function impersonated(user: UserInfo, headers: IncomingHttpHeaders): UserInfo {
  const username = headers['impersonate-user'];
  if (typeof username !== 'string' || !user.groups.includes('system:masters')) return user;
  const groups = headers['impersonate-group'];
  return { username, groups: [...(groups === undefined ? [] : [groups].flat()), 'system:authenticated'] };
}
