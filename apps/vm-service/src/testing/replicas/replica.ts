import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { ReplicaParams, ReplicaReady } from './replica-service.js';
import { PATIENCE_MS } from './until.js';

/** The environment of a plain Node, without the options of the tests. */
export const PLAIN_ENV = { ...process.env, NODE_OPTIONS: '' };

/** One process of the service. */
export class Replica {
  private child: ChildProcess | undefined;
  private url = '';
  /** Its name among the replicas, which is another one after each start. */
  id = '';
  ready: Promise<void> = Promise.resolve();
  private restarting: Promise<void> = Promise.resolve();

  constructor(
    private readonly script: string,
    private readonly params: ReplicaParams,
  ) {}

  start(): void {
    const child = spawn(process.execPath, [this.script, JSON.stringify(this.params)], {
      env: PLAIN_ENV,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.child = child;
    this.ready = new Promise((resolve, reject) => {
      child.once('message', ({ url, id }: ReplicaReady) => {
        this.url = url;
        this.id = id;
        resolve();
      });
      child.once('exit', (code, signal) => reject(new Error(`a replica ended with ${code ?? signal}`)));
    });
    // Only those that wait for it need to know that it was killed before it was ready.
    this.ready.catch(() => undefined);
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Lets none of its code run until `resume`, as on a machine that is suspended. */
  suspend(): void {
    this.child?.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  /** Kills it, also while it starts, and starts it again. Resolves when it has begun to start. */
  restart(): Promise<void> {
    this.restarting = this.restarting.then(async () => {
      await this.kill();
      this.start();
    });
    return this.restarting;
  }

  /** Resolves when it has started after the last restart. */
  async whenReady(): Promise<void> {
    for (;;) {
      const { restarting } = this;
      await restarting;
      try {
        await this.ready;
        return;
      } catch (error) {
        if (restarting === this.restarting) throw error;
      }
    }
  }

  startTask(round: number): void {
    this.child?.send({ round }, () => undefined);
  }

  /** A request of a browser with this page. */
  browse(method: string, path: string, body?: object, cookie = ''): Promise<Response> {
    const accept = path.endsWith('/stream') ? 'text/event-stream' : 'application/json';
    const headers = { accept, 'content-type': 'application/json', origin: this.url, ...(cookie && { cookie }) };
    return fetch(`${this.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }

  async get<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.url}${path}`)).json()) as T;
  }

  /** A request of a client, with an API token or an idempotency key if it has one. */
  async request(
    method: string,
    path: string,
    { body, token, key }: { body?: object; token?: string; key?: string } = {},
  ) {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(body && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  /** Sends a request again and again. @returns the milliseconds until its response had that status */
  async timeUntilStatus(expected: number, path: string, token: string): Promise<number> {
    const startedAt = performance.now();
    let status = 0;
    while (status !== expected) {
      if (performance.now() - startedAt > PATIENCE_MS)
        throw new Error(`a replica answers ${path} with ${status} instead of ${expected}`);
      ({ status } = await this.request('GET', path, { token }));
    }
    return performance.now() - startedAt;
  }

  /** A request whose replica may be killed. @returns the status; 0 without a response */
  async send(method: string, path: string, body: object): Promise<number> {
    const headers = { 'content-type': 'application/json' };
    return fetch(`${this.url}${path}`, { method, headers, body: JSON.stringify(body) }).then(
      ({ status }) => status,
      () => 0,
    );
  }
}
