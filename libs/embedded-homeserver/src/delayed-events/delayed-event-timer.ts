import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '@headgate/clock';
import { DelayedEvents } from './delayed-events.js';

/** The longest delay of a timer in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Sends delayed events when they are due, and overdue ones at the start. */
@Injectable()
export class DelayedEventTimer implements OnApplicationBootstrap, OnModuleDestroy {
  private timer?: NodeJS.Timeout;

  constructor(
    private readonly delayed: DelayedEvents,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.start();
  }

  onModuleDestroy(): void {
    this.stop();
  }

  start(): void {
    this.delayed.changed.on('schedule', this.arm);
    this.fire();
  }

  stop(): void {
    this.delayed.changed.off('schedule', this.arm);
    clearTimeout(this.timer);
  }

  private readonly fire = (): void => {
    this.delayed.sendDue();
    this.arm();
  };

  // A timer may fire slightly early. Events that are not due yet wait for the next one.
  private readonly arm = (): void => {
    clearTimeout(this.timer);
    const due = this.delayed.nextDue();
    if (due === undefined) return;
    this.timer = setTimeout(this.fire, Math.min(MAX_TIMER_MS, Math.max(1, due - this.clock.now())));
  };
}
