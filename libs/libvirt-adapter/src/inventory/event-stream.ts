import { createInterface } from 'node:readline';
import type { DomainError } from '@headgate/domain-contracts';
import { translateFailure } from '../virsh/virsh-errors.js';
import type { Virsh } from '../virsh/virsh.js';
import { parseEventLine, type DomainEvent } from './event-line.js';

export interface EventStreamListener {
  event(event: DomainEvent): void;
  /** Called once, when the stream has ended by itself. */
  ended(error: DomainError): void;
}

/** One `virsh event` process. It ends as soon as the connection to libvirt does; a keep-alive notices a silent one within 6 s. */
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
