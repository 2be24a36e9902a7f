import { type Cap, CapLedger } from '@headgate/limits-core';
import type { MainLink } from '../link/protocol.js';

/** The ledger of a worker. It knows the terms of the caps; the main process has the counts of all workers. */
export class RemoteLedger extends CapLedger {
  constructor(private readonly main: MainLink) {
    super();
  }

  override free({ name: cap }: Cap, holder: string, amount?: number): void {
    this.main.notify('changeHolder', { change: 'free', cap, holder, amount });
  }

  override invalidate({ name: cap }: Cap, holder: string): void {
    this.main.notify('changeHolder', { change: 'invalidate', cap, holder });
  }

  override expire({ name: cap }: Cap, holder: string): void {
    this.main.notify('changeHolder', { change: 'expire', cap, holder });
  }
}
