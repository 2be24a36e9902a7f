import type { MainLink, OwnRefusal } from '../link/protocol.js';
import { type RefusalEntry, RefusalLog } from './refusal-log.js';

const NO_LOG = { info: () => undefined };

/** The log of refusals in a worker: the main process has them, with those of all workers. */
export class RemoteRefusals extends RefusalLog {
  constructor(private readonly main: MainLink) {
    super(NO_LOG, () => false);
  }

  protected override add(refused: Omit<RefusalEntry, 'time'>): void {
    this.main.notify('refuse', refused as OwnRefusal);
  }
}
