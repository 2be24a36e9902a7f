import type { WatchedConsole, WatchersView } from '@headgate/api-contracts';
import { Clock, formatRef, type Author, type Instance } from '@headgate/domain-contracts';
import { Injectable } from '@nestjs/common';
import type { WebSocket } from 'ws';

interface Watcher {
  readonly kind: WatchedConsole;
  readonly author: Author;
  readonly mayType: boolean;
  readonly sinceMs: number;
}

type VmIdentity = Pick<Instance, 'ref' | 'uid'>;

/** A VM that is created under the same name is another one. */
const keyOf = ({ ref, uid }: VmIdentity): string => `${formatRef(ref)} ${uid}`;

/** A console that a caller has opened. */
export interface OpenedConsole {
  readonly instance: VmIdentity;
  readonly caller: Author;
  readonly viewOnly: boolean;
}

/** Who has which console of a VM open, in this replica. */
@Injectable()
export class ConsoleWatchers {
  private readonly watchers = new Map<string, Set<Watcher>>();

  constructor(private readonly clock: Clock) {}

  /** Lists a watcher until the socket is closed. */
  add(kind: WatchedConsole, { instance, caller, viewOnly }: OpenedConsole, socket: Pick<WebSocket, 'once'>): void {
    const key = keyOf(instance);
    const watcher: Watcher = { kind, author: caller, mayType: !viewOnly, sinceMs: this.clock.now() };
    const ofVm = this.watchers.get(key) ?? new Set();
    this.watchers.set(key, ofVm.add(watcher));
    socket.once('close', () => {
      ofVm.delete(watcher);
      if (ofVm.size === 0 && this.watchers.get(key) === ofVm) this.watchers.delete(key);
    });
  }

  /** @param asker the caller of the request, whose own consoles are marked */
  of(vm: VmIdentity, asker: Author): WatchersView {
    const watchers = [...(this.watchers.get(keyOf(vm)) ?? [])].map(({ kind, author, mayType, sinceMs }) => ({
      who: author.login || author.name,
      kind,
      since: new Date(sinceMs).toISOString(),
      mayType,
      you: author.login === asker.login && author.name === asker.name,
    }));
    return { watchers };
  }
}
