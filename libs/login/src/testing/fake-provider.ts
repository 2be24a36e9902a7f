import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Key {
  readonly id: string;
  readonly key: KeyObject;
}

const CLIENT = 'headgate';
const LIFETIME_SECONDS = 300;

/** A login provider that makes mistakes on request. A browser is played by `approve`. */
export class FakeProvider {
  /** Replaces claims of the ID tokens; undefined removes one. */
  claims: Record<string, unknown> = {};
  /** Claims that only the userinfo endpoint has. */
  userinfo: Record<string, unknown> = {};
  /** Parameters of the answers besides the code and the state. */
  extra: Record<string, string> = {};
  /** Answers every request with this status. */
  broken: number | undefined;
  /** Signs with a key that the provider does not publish. */
  usesForeignKey = false;
  readonly requests: string[] = [];
  private keys: readonly Key[] = [newKey('first')];
  private readonly codes = new Map<string, { nonce: string; challenge: string }>();

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.answer(request, response);
    });
  }

  static async listen(): Promise<FakeProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FakeProvider(server);
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Signs with a new key from now on, and forgets the former one. */
  rotateKey(): void {
    this.keys = [newKey(`key-${this.requests.length}`)];
  }

  /** The user agrees. @returns the address to which the browser is sent */
  approve(request: URL): URL {
    const query = request.searchParams;
    const code = `code-${this.codes.size}`;
    this.codes.set(code, { nonce: query.get('nonce') ?? '', challenge: query.get('code_challenge') ?? '' });
    const back = new URL(query.get('redirect_uri') ?? '');
    const answer = { code, state: query.get('state') ?? '', ...this.extra };
    for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
    return back;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    this.requests.push(path);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const send = (status: number, value: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (this.broken !== undefined) return send(this.broken, {});
    const { issuer } = this;
    if (path === '/.well-known/openid-configuration')
      return send(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        userinfo_endpoint: `${issuer}/userinfo`,
        end_session_endpoint: `${issuer}/logout`,
        authorization_response_iss_parameter_supported: 'iss' in this.extra,
      });
    if (path === '/keys') return send(200, { keys: this.keys.map(publish) });
    if (path === '/userinfo') return send(200, { sub: 'subject', ...this.userinfo });
    const code = new URLSearchParams(body).get('code') ?? '';
    const known = this.codes.get(code);
    this.codes.delete(code);
    if (!known) return send(400, { error: 'invalid_grant' });
    return send(200, {
      access_token: 'access',
      token_type: 'Bearer',
      id_token: this.idToken(known.nonce),
    });
  }

  private idToken(nonce: string): string {
    const now = Math.floor(Date.now() / 1000);
    const [{ id, key }] = this.keys as [Key];
    const claims = { iss: this.issuer, sub: 'subject', aud: CLIENT, iat: now, exp: now + LIFETIME_SECONDS, nonce };
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${encode({ alg: 'RS256', kid: id })}.${encode({ ...claims, ...this.claims })}`;
    const used = this.usesForeignKey ? newKey(id).key : key;
    return `${text}.${sign('RSA-SHA256', Buffer.from(text), used).toString('base64url')}`;
  }
}

const newKey = (id: string): Key => ({ id, key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey });

const publish = ({ id, key }: Key): object => ({
  ...createPublicKey(key).export({ format: 'jwk' }),
  kid: id,
  alg: 'RS256',
  use: 'sig',
});
