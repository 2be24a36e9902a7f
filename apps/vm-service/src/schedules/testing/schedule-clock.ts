import { Clock } from '@headgate/domain-contracts';
import { Scheduler } from '@headgate/schedules';
import { jest } from '@jest/globals';
import type { Edge } from '../../testing/edge.js';
import { holdMethod } from '../../testing/hold-method.js';

/** The clock of a service, which a test sets forward. */
export class ScheduleClock {
  private aheadMs = 0;

  constructor(private readonly edge: Edge) {
    this.follow();
  }

  /** Call it after the service was opened again. */
  follow(): void {
    const clock = this.edge.service.app.get(Clock, { strict: false });
    const now = clock.now.bind(clock);
    jest.spyOn(clock, 'now').mockImplementation(() => now() + this.aheadMs);
  }

  /** Lets time pass until a time of a schedule, and until the schedules that are due then have begun. */
  async reach(time: string | null): Promise<void> {
    const clock = this.edge.service.app.get(Clock, { strict: false });
    await this.pass(Date.parse(time ?? '') - clock.now());
  }

  /** Lets time pass, until the schedules that are due then have begun. */
  async pass(ms: number): Promise<void> {
    this.aheadMs += ms;
    const scheduler = this.edge.service.app.get(Scheduler, { strict: false });
    scheduler.wake();
    await scheduler.settled();
  }

  /** Lets no start and stop end until it is released. */
  holdPower(): { readonly begun: Promise<void>; readonly release: () => void } {
    const { begun, end } = holdMethod(this.edge.lab.require('power'), 'apply');
    return { begun, release: end };
  }
}
