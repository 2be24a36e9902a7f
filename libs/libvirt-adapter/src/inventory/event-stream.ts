import { createInterface } from 'node:readline';
import type { DomainError } from '@headgate/domain-contracts';
import { translateFailure } from '../virsh/virsh-errors.js';
import type { Virsh } from '../virsh/virsh.js';

/** One line of `virsh event --all --loop --timestamp`. */
export interface DomainEvent {
  /** `lifecycle`, `agent-lifecycle`, … */
  readonly kind: string;
  readonly domain: string;
  readonly detail: string;
}

export function parseEventLine(line: string): DomainEvent | undefined {
  const [, kind, domain, detail] = /event '([a-z0-9-]+)' for domain '(.*)': (.*)$/.exec(line) ?? [];
  return kind === undefined || domain === undefined ? undefined : { kind, domain, detail: detail ?? '' };
}

/** Events that never change an inventory entry; some are emitted every second. */
const IRRELEVANT = new Set([
  'balloon-change',
  'rtc-change',
  'graphics',
  'block-threshold',
  'migration-iteration',
  'tray-change',
  'tunable',
]);

export const mayChangeInventory = ({ kind }: DomainEvent): boolean => !IRRELEVANT.has(kind);

export interface EventStreamListener {
  event(event: DomainEvent): void;
  /** Called once if the stream ends without `stop()`. */
  ended(error: DomainError): void;
}

/** One `virsh event` process. It ends with its connection to libvirt; keepalives detect a hanging connection within 6 s. */
export class EventStream {
  private stopped = false;
  private readonly child;
  private readonly exited: Promise<void>;

  constructor(virsh: Virsh, listener: EventStreamListener) {
    const child = virsh.follow(['event', '--all', '--loop', '--timestamp']);
    this.child = child;
    let stderr = '';
    let missing = false;
    child.on('error', (error: NodeJS.ErrnoException) => (missing = error.code === 'ENOENT'));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr = `${stderr}${chunk}`.slice(-4096)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = parseEventLine(line);
      if (event && !this.stopped) listener.event(event);
    });
    this.exited = new Promise((resolve) =>
      child.on('close', (code) => {
        resolve();
        if (!this.stopped) listener.ended(translateFailure('virsh', { code, stdout: '', stderr, missing }));
      }),
    );
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.child.kill('SIGKILL');
    await this.exited;
  }
}
