import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { isJson } from '../client/answer-error.js';
import { ClientError } from '../client/client-error.js';
import { networkFailure } from '../client/network-failure.js';
import type { HttpClient } from '../client/http-client.js';
import { boundedLines, TOO_LONG } from '../terminal/bounded-lines.js';

/** The limit of a request body of the service. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** As many as the service accepts of one session at a time. */
const MAX_AT_ONCE = 8;
const END_TIMEOUT_MS = 1_000;
const PATH = '/api/ext/mcp';
const SESSION_HEADER = 'mcp-session-id';

/** Codes of JSON-RPC 2.0, and -32000 for errors of the service. */
const CODES = { unreadable: -32700, invalid: -32600, failed: -32000 } as const;

type Id = string | number;

interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: Id;
  readonly method?: string;
}

export interface McpBridgeDeps {
  readonly http: HttpClient;
  readonly stdin: Readable;
  /** Writes one message as a line. Resolves when there is room for another one. */
  readonly write: (line: string) => Promise<void>;
  /** Shows a message to people. */
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Copies the messages of an agent, one per line, to the service, and its answers back. The service decides about each
 * message, so the bridge knows only what a session needs: its beginning, which goes first and is repeated when the
 * service has ended an idle session.
 */
export class McpBridge {
  private session: string | undefined;
  private version: string | undefined;
  private initialize: Message | undefined;
  private renewal: Promise<void> | undefined;
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly deps: McpBridgeDeps) {}

  /** Resolves when standard input has ended and all messages were answered. */
  async run(): Promise<void> {
    const { stdin, signal } = this.deps;
    const stop = (): void => void stdin.destroy();
    signal.addEventListener('abort', stop);
    try {
      for await (const line of boundedLines(stdin, MAX_MESSAGE_BYTES)) await this.receive(line);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
    await Promise.all(this.running);
    await this.end();
  }

  private async receive(line: Buffer | typeof TOO_LONG): Promise<void> {
    if (line === TOO_LONG)
      return this.refuse(undefined, CODES.invalid, `A message has more than ${MAX_MESSAGE_BYTES} bytes.`);
    if (line.toString('latin1').trim() === '') return;
    const message = parse(line);
    if (message === undefined) return this.refuse(undefined, CODES.unreadable, 'A line is not JSON in UTF-8.');
    if (!isMessage(message)) return this.refuse(undefined, CODES.invalid, 'A line is not one message of JSON-RPC 2.0.');
    const work = this.forward(message);
    this.running.add(work);
    const done = (): void => void this.running.delete(work);
    work.then(done, done);
    // Nothing may overtake the beginning of the session.
    if (message.method === 'initialize') await work;
    else if (this.running.size >= MAX_AT_ONCE) await Promise.race(this.running);
  }

  private async forward(message: Message): Promise<void> {
    try {
      if (message.method === 'initialize')
        [this.session, this.version, this.initialize] = [undefined, undefined, message];
      const answer = await this.sendAgain(message);
      if (answer !== undefined) await this.deps.write(`${JSON.stringify(answer)}\n`);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      await this.refuse(message, CODES.failed, error.message, error.code);
    }
  }

  /** Sends a message, and once more in a new session if the service has ended the one before. */
  private async sendAgain(message: Message): Promise<unknown> {
    const { session } = this;
    try {
      return await this.send(message);
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'PATH_NOT_FOUND' || session === undefined) throw error;
      await this.renew(session);
      return this.send(message);
    }
  }

  /** Begins a new session as the agent has begun the first one. Several messages wait for the same one. */
  private async renew(ended: string): Promise<void> {
    if (this.session === ended) {
      this.renewal ??= this.begin().finally(() => (this.renewal = undefined));
    }
    await this.renewal;
  }

  private async begin(): Promise<void> {
    const { initialize } = this;
    if (!initialize) return;
    this.session = undefined;
    await this.send(initialize);
    await this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  private async send(message: Message): Promise<unknown> {
    const answer = await this.deps.http.open('POST', PATH, {
      body: message,
      headers: { ...this.headers, accept: 'application/json, text/event-stream' },
      signal: this.deps.signal,
    });
    const text = await this.textOf(answer);
    if (message.method === 'initialize') this.session = headerOf(answer, SESSION_HEADER);
    if (text === undefined) return undefined;
    const body = isJson(answer.headers['content-type'] ?? '') ? parse(text) : undefined;
    if (typeof body !== 'object' || body === null)
      throw new ClientError('NOT_A_SERVICE', 'The answer is not a message of the Model Context Protocol.', 1);
    if (message.method === 'initialize') this.version = versionOf(body);
    return body;
  }

  private async textOf(answer: IncomingMessage): Promise<Buffer | undefined> {
    const parts: Buffer[] = [];
    let length = 0;
    try {
      for await (const part of answer) {
        length += (part as Buffer).length;
        if (length > MAX_ANSWER_BYTES)
          throw new ClientError('ANSWER_TOO_LARGE', `The answer has more than ${MAX_ANSWER_BYTES} bytes.`, 1);
        parts.push(part as Buffer);
      }
    } catch (error) {
      throw error instanceof ClientError ? error : networkFailure(error, this.deps.http.access.url);
    }
    return length === 0 ? undefined : Buffer.concat(parts);
  }

  private get headers(): Record<string, string> {
    return {
      ...(this.session === undefined ? {} : { [SESSION_HEADER]: this.session }),
      ...(this.version === undefined ? {} : { 'mcp-protocol-version': this.version }),
    };
  }

  private async refuse(message: Message | undefined, code: number, text: string, name?: string): Promise<void> {
    // A notification has no answer.
    if (message && message.id === undefined) return this.deps.note(text);
    const error = { code, message: text, ...(name === undefined ? {} : { data: { code: name } }) };
    await this.deps.write(`${JSON.stringify({ jsonrpc: '2.0', id: message?.id ?? null, error })}\n`);
  }

  /** The service ends idle sessions anyway. */
  private async end(): Promise<void> {
    if (this.session === undefined || this.deps.signal.aborted) return;
    const answer = await this.deps.http
      .open('DELETE', PATH, { headers: this.headers, timeoutMs: END_TIMEOUT_MS })
      .catch(() => undefined);
    answer?.destroy();
  }
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line)) ?? null;
  } catch {
    return undefined;
  }
}

const isMessage = (value: unknown): value is Message => {
  if (typeof value !== 'object' || value === null) return false;
  const { jsonrpc, id, method } = value as Partial<Record<keyof Message, unknown>>;
  return (
    jsonrpc === '2.0' &&
    (id === undefined || typeof id === 'string' || typeof id === 'number') &&
    (method === undefined || typeof method === 'string')
  );
};

const headerOf = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

function versionOf(answer: object): string | undefined {
  const version = (answer as { result?: { protocolVersion?: unknown } }).result?.protocolVersion;
  return typeof version === 'string' && /^[\w.-]{1,40}$/.test(version) ? version : undefined;
}
