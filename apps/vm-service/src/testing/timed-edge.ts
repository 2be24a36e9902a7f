import { SystemClock } from '@headgate/domain-contracts';
import { FleetHistory } from '@headgate/history';
import { jest } from '@jest/globals';
import { Edge, type Reply } from './edge.js';

/** The whole service, whose time a test moves. Its timers are those of the system. */
export class TimedEdge extends Edge {
  now = Date.UTC(2026, 0, 1);

  override async open(env: Record<string, string> = {}, args: string[] = []): Promise<this> {
    jest.spyOn(SystemClock.prototype, 'now').mockImplementation(() => this.now);
    await super.open(env, args);
    await this.send('GET', '/api/vms');
    return this;
  }

  override async close(): Promise<void> {
    await super.close();
    jest.restoreAllMocks();
  }

  get history(): FleetHistory {
    return this.service.app.get(FleetHistory, { strict: false });
  }

  pass(ms: number): void {
    this.now += ms;
  }

  async untilRecording(): Promise<void> {
    while (this.history.status.state !== 'recording') await new Promise((resolve) => setImmediate(resolve));
  }

  /** A list as of a time. */
  at(time: number, query = '', headers: Record<string, string> = {}): Promise<Reply> {
    return this.send('GET', `/api/vms?at=${new Date(time).toISOString()}${query}`, undefined, headers);
  }
}
