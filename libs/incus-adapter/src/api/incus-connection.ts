import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect as connectSocket } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectTls, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';
import { WebSocket } from 'ws';
import type { ClientIdentity } from './client-identity.js';
import { describeTarget, type HttpsTarget, type ServerTarget } from './server-target.js';
import { translateFailure } from './translate-error.js';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly query?: Query;
  /** Sent as JSON, except for a stream, which is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** How long the head of the response may take. Default 30 s. */
  readonly timeoutMs?: number;
}

const REQUEST_TIMEOUT_MS = 30_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Sends requests to one server. Each fails with BACKEND_UNREACHABLE, BACKEND_TIMEOUT or BACKEND_FORBIDDEN. */
export class IncusConnection {
  private readonly http = new HttpAgent({ keepAlive: true });
  private readonly https = new HttpsAgent({ keepAlive: true });
  private tls: Promise<ConnectionOptions> | undefined;

  /** @param context its name in messages */
  constructor(
    readonly context: string,
    readonly target: ServerTarget,
    private readonly identity: ClientIdentity,
    private readonly clock: Clock,
  ) {}

  /** @param path with its `/1.0`; the query is added to it */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<IncomingMessage> {
    const { body, headers, signal, timeoutMs = REQUEST_TIMEOUT_MS } = options;
    const isStream = isReadable(body);
    const text = body === undefined || isStream ? undefined : JSON.stringify(body);
    const common = {
      method,
      path: withQuery(path, options.query),
      signal,
      headers: {
        host: 'incus',
        ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...headers,
      },
    };
    const { target } = this;
    const sent =
      target.kind === 'socket'
        ? httpRequest({ ...common, agent: this.http, socketPath: target.path })
        : httpsRequest({
            ...common,
            agent: this.https,
            host: target.host,
            port: target.port,
            ...(await this.tlsOptions(target)),
          });
    const cancelTimer = this.clock.after(timeoutMs, () => sent.destroy(this.timeout(timeoutMs)));
    try {
      const response = once(sent, 'response') as Promise<[IncomingMessage]>;
      if (isStream) {
        // A server may refuse it before the end: the connection then fails after the response.
        sent.on('error', () => undefined);
        body.on('error', (error) => sent.destroy(error)).pipe(sent);
      } else sent.end(text);
      return (await response)[0];
    } catch (error) {
      throw this.translate(error);
    } finally {
      cancelTimer();
    }
  }

  /** A websocket that is open. Its `error` event has a listener. */
  async socket(path: string, query?: Query, signal?: AbortSignal): Promise<WebSocket> {
    const { target } = this;
    const options =
      target.kind === 'socket'
        ? { createConnection: () => connectSocket(target.path) }
        : await this.tlsOptions(target).then((tls) => ({
            ...tls,
            createConnection: () => connectTls({ ...tls, host: target.host, port: target.port }),
          }));
    const url = `ws://incus${withQuery(path, query)}`;
    const socket = new WebSocket(url, {
      ...(options as object),
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: 64 * 1024 ** 2,
    });
    const abort = (): void => socket.terminate();
    signal?.addEventListener('abort', abort);
    try {
      await once(socket, 'open');
      socket.on('error', () => undefined);
      return socket;
    } catch (error) {
      socket.on('error', () => undefined).terminate();
      const status = /Unexpected server response: (\d+)/.exec(messageOf(error))?.[1];
      if (status === undefined) throw this.translate(error);
      throw translateFailure(this.context, { status: Number(status), text: `the server refused ${path}` });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** What a connection failed with, as one sentence. */
  translate(error: unknown): DomainError {
    if (error instanceof DomainError) return error;
    const { code } = error as NodeJS.ErrnoException;
    const where = describeTarget(this.target);
    if (code === 'EACCES') {
      return new DomainError(
        'BACKEND_FORBIDDEN',
        `${this.context}: this service may not open ${where}; add its user to the group of the socket.`,
        { cause: error },
      );
    }
    return new DomainError(
      'BACKEND_UNREACHABLE',
      `${this.context}: the server at ${where} does not answer (${messageOf(error)}).`,
      { cause: error },
    );
  }

  close(): void {
    this.http.destroy();
    this.https.destroy();
  }

  private timeout(timeoutMs: number): DomainError {
    const where = describeTarget(this.target);
    return new DomainError(
      'BACKEND_TIMEOUT',
      `${this.context}: the server at ${where} did not answer within ${timeoutMs / 1000} s.`,
    );
  }

  private tlsOptions(target: HttpsTarget): Promise<ConnectionOptions> {
    this.tls ??= this.prepareTls(target).catch((error: unknown) => {
      this.tls = undefined;
      throw this.translate(error);
    });
    return this.tls;
  }

  private async prepareTls(target: HttpsTarget): Promise<ConnectionOptions> {
    const { key, certificate } = await this.identity.load();
    const common: ConnectionOptions = { key, cert: certificate, minVersion: 'TLSv1.3' };
    if (target.fingerprint === undefined) return common;
    const pinned = await this.certificateOf(target);
    // The certificate itself is the proof: its names need not fit the address.
    return { ...common, ca: pinned, checkServerIdentity: () => undefined };
  }

  /** @returns the certificate that the server presents, in PEM, if it has the fingerprint */
  private async certificateOf({ host, port, fingerprint }: HttpsTarget): Promise<string> {
    // Nothing is sent over this connection, so it may be to anyone.
    const socket = connectTls({ host, port, rejectUnauthorized: false, timeout: HANDSHAKE_TIMEOUT_MS });
    try {
      socket.once('timeout', () => socket.destroy(this.timeout(HANDSHAKE_TIMEOUT_MS)));
      await once(socket, 'secureConnect');
      const found: PeerCertificate = socket.getPeerCertificate();
      const actual = found.fingerprint256.replaceAll(':', '').toLowerCase();
      if (actual === fingerprint?.toLowerCase()) return toPem(found.raw);
      throw new DomainError(
        'BACKEND_FORBIDDEN',
        `${this.context}: the server at ${host}:${port} has the certificate ${actual}, not the expected one; correct fingerprint if the server has a new certificate.`,
      );
    } finally {
      socket.on('error', () => undefined).destroy();
    }
  }
}

const toPem = (raw: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${raw.toString('base64')}\n-----END CERTIFICATE-----\n`;

const isReadable = (body: unknown): body is Readable =>
  typeof body === 'object' && body !== null && typeof (body as Readable).pipe === 'function';

function withQuery(path: string, query: Query = {}): string {
  const set = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : ([[name, String(value)]] as [string, string][]),
  );
  if (set.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(set).toString()}`;
}
