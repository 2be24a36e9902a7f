import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '@headgate/domain-contracts';
import { pino, type Logger } from 'pino';
import { WebSocket } from 'ws';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import { parseCommandLine } from '../config/command-line.js';
import { loadSettings, type Settings } from '../config/load-config.js';
import { createService, type Service } from '../create-app.js';
import { ProcPeerUsers, type PeerSocket, type PeerUsers } from '../platform/peer-users.js';

const silent = pino({ level: 'silent' });

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
  readonly json: Record<string, unknown> & { error: string; code: string };
}

/** The users of real connections; requests that tests inject have none and count as the service's own. */
export class TestPeers extends ProcPeerUsers {
  override userOf(socket: PeerSocket): number | undefined {
    return socket.remotePort === undefined ? process.getuid?.() : super.userOf(socket);
  }
}

/** The whole service over some backends, on a free loopback port. */
export abstract class TestService {
  readonly folder = mkdtempSync(join(tmpdir(), 'headgate-service-'));
  service!: Service;
  peerUsers: PeerUsers = new TestPeers();
  log: Logger = silent;

  /** In the order of the configuration. */
  protected abstract backends(): readonly Backend[];

  async open(env: Record<string, string> = {}, args: string[] = []): Promise<this> {
    const page = join(this.folder, 'page');
    const settings = loadSettings(
      parseCommandLine(['--data-dir', this.folder, '--listen', '127.0.0.1:0', ...args]),
      env,
    );
    const contexts: ChosenContexts = {
      backends: this.backends(),
      simulated: new Set([this.backends()[0]?.context ?? '']),
      hasTinyGuest: true,
      notes: [],
      close: async () => undefined,
      ...this.moreContexts(settings),
    };
    this.service = await createService({ settings, contexts, log: this.log, pageDir: page, peerUsers: this.peerUsers });
    await this.service.start();
    return this;
  }

  /** How the service opens further contexts. By default it can't. */
  protected moreContexts(_settings: Settings): Partial<ChosenContexts> {
    return {};
  }

  get base(): string {
    return `127.0.0.1:${this.service.port()}`;
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const raw = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
    const answer = await this.service.app.inject({
      method: method as 'GET',
      url: path,
      payload: raw,
      headers: {
        host: 'localhost:8006',
        ...(raw === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    const isJson =
      String(answer.headers['content-type']).startsWith('application/json') &&
      answer.headers['content-encoding'] === undefined &&
      answer.body !== '';
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.body,
      json: (isJson ? answer.json() : {}) as Reply['json'],
    };
  }

  socket(path: string, headers: Record<string, string> = {}): WebSocket {
    return new WebSocket(`ws://${this.base}${path}`, { headers });
  }

  /** The task when its log has this text, or when it has ended. */
  async logged(task: unknown, text: string): Promise<Reply['json']> {
    for (;;) {
      const { json } = await this.send('GET', `/api/tasks/${String(task)}`);
      if (json['status'] !== 'running' || String(json['log']).includes(text)) return json;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Restarts the service with other settings. */
  async reopen(env: Record<string, string> = {}, args: string[] = []): Promise<void> {
    await this.service.close();
    await this.open(env, args);
  }

  async close(): Promise<void> {
    await this.service.close();
    rmSync(this.folder, { recursive: true });
  }
}
