import { createInterface } from 'node:readline';
import {
  mayChangeInventory,
  type DomainEvent,
  type EventListener,
  type EventSubscription,
} from '../connection/domain-events.js';
import { describeLine } from '../connection/describe-event.js';
import { translateFailure } from '../programs/translate-failure.js';
import type { Virsh } from './virsh.js';

/** Parses a line of `virsh event --all --loop --timestamp`. */
export function parseEventLine(line: string): DomainEvent | undefined {
  const [, kind, domain, detail = ''] = /event '([a-z0-9-]+)' for domain '(.*)': (.*)$/.exec(line) ?? [];
  if (kind === undefined || domain === undefined) return undefined;
  return { kind, domain, ...describeLine(kind, detail), isStart: kind === 'lifecycle' && detail.startsWith('Started') };
}

/**
 * One `virsh event` process. It ends with its connection to libvirt; keepalives detect a hanging connection within 6 s.
 * It does not report when libvirt has accepted its subscription.
 */
export class VirshEvents implements EventSubscription {
  readonly isConfirmed = false;
  private isStopped = false;
  private readonly child;
  private readonly exited: Promise<void>;

  constructor(virsh: Virsh, listener: EventListener) {
    const child = virsh.follow(['event', '--all', '--loop', '--timestamp']);
    this.child = child;
    let stderr = '';
    let missing = false;
    child.on('error', (error: NodeJS.ErrnoException) => (missing = error.code === 'ENOENT'));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr = `${stderr}${chunk}`.slice(-4096)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = parseEventLine(line);
      if (event && mayChangeInventory(event.kind) && !this.isStopped) listener.event(event);
    });
    this.exited = new Promise((resolve) =>
      child.on('close', (code) => {
        resolve();
        if (!this.isStopped) listener.ended(translateFailure('virsh', { code, stdout: '', stderr, missing }));
      }),
    );
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.child.kill('SIGKILL');
    await this.exited;
  }
}
