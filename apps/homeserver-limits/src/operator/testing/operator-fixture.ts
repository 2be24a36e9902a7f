import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IncomingHttpHeaders } from 'node:http';
import { CapLedger, ManualClock, MemoryRateLimiter, type Rate } from '@headgate/limits-core';
import { pino } from 'pino';
import { parseConfig } from '../../config/config.js';
import { LiveConfig } from '../../config/live-config.js';
import { DecisionHistory } from '../../metrics/decision-history.js';
import { LimitsMetrics } from '../../metrics/limits-metrics.js';
import { RecentRequests } from '../../reports/recent-requests.js';
import { RefusalLog } from '../../reports/refusal-log.js';
import { OperatorJournal } from '../../state/operator-journal.js';
import { Overrides } from '../../state/overrides.js';
import { DeskFiles } from '../desk-files.js';
import type { NamedTokens } from '../named-tokens.js';
import { OperatorListener, type OperatorListenerDeps } from '../operator-listener.js';

export interface OperatorReply {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The JSON body; empty for another one. */
  readonly body: Record<string, unknown>;
}

/** The operator's listener with a rate `ring` of 2 per minute and a cap `pushers` of 3, and a page of one line. */
export class OperatorFixture {
  readonly folder = mkdtempSync(join(tmpdir(), 'limits-operator-'));
  readonly windows = new MemoryRateLimiter({ clock: new ManualClock() });
  readonly rate: Rate = this.windows.define('ring', { limit: 2, windowMs: 60_000 });
  readonly ledger = new CapLedger();
  readonly refusals = new RefusalLog(pino({ level: 'silent' }), () => false);
  readonly readiness = { isReady: true };
  readonly journal = new OperatorJournal(this.folder);
  private listener: OperatorListener | undefined;

  constructor() {
    this.ledger.define('pushers', { limit: 3, resource: 'pushers' });
    for (const name of ['index.html', 'app.js', 'style.css']) writeFileSync(join(this.folder, name), `the ${name}`);
  }

  async open(tokens: NamedTokens = {}, more: Partial<OperatorListenerDeps> = {}): Promise<void> {
    const { folder, windows, ledger, refusals, readiness, journal } = this;
    this.listener = new OperatorListener({
      listen: '127.0.0.1:0',
      tokens,
      windows,
      store: windows,
      ledger,
      refusals,
      readiness,
      journal,
      overrides: new Overrides(),
      recent: new RecentRequests(),
      history: new DecisionHistory(),
      deskFiles: new DeskFiles(folder),
      config: new LiveConfig(parseConfig('')),
      metrics: new LimitsMetrics(windows),
      log: pino({ level: 'silent' }),
      ...more,
    });
    await this.listener.listen();
  }

  get url(): string {
    return this.listener?.url ?? '';
  }

  async ask(
    target: string,
    headers: Record<string, string> = {},
    method = 'GET',
    body?: string,
  ): Promise<OperatorReply> {
    const { hostname, port } = new URL(this.url);
    const { promise, resolve, reject } = Promise.withResolvers<OperatorReply>();
    const outgoing = request({ hostname, port, path: target, method, headers, agent: false }, (response) => {
      const { statusCode: status, headers: received } = response;
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ status, headers: received, text, body: parsed(text) }));
    });
    outgoing.once('error', reject).end(body);
    return promise;
  }

  async close(): Promise<void> {
    await this.listener?.close();
    await this.journal.onApplicationShutdown();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
