import type { Clock } from '@headgate/clock';
import type { AuditEntry, AuditLog } from './audit-log.port.js';
import type { Author } from '../model/caller.js';
import { DomainError, messageOf } from '../values/domain-error.js';
import { formatRef, type InstanceRef } from '../values/instance-ref.js';

/** Records changes in the audit log, each with its caller and outcome. */
export class Audit {
  /** The callers of requests that already have an entry. */
  private readonly recorded = new WeakSet<Author>();
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly log: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Does the work and records it. The space for the record is reserved before.
   * @param subject an instance, or the text by which the log names another object
   * @param describe the message of a success
   * @throws DomainError REGISTRY_FULL when the work could not be recorded: it was not begun; NOT_PERMITTED for an agent
   *   that has not rehearsed it; and the errors of the work
   */
  async of<T>(
    caller: Author,
    action: string,
    subject: InstanceRef | string,
    work: () => Promise<T>,
    describe: (result: T) => string = () => '',
  ): Promise<T> {
    const ref = typeof subject === 'string' ? subject : formatRef(subject);
    const write = (outcome: 'ok' | 'error', message: string, code?: string): void =>
      this.append(caller, { action, ref, outcome, message, ...(code === undefined ? {} : { code }) });
    caller.rehearsed?.expectCompared(ref);
    const release = this.log.reserve();
    try {
      let result: T;
      try {
        result = await work();
      } catch (error) {
        write('error', messageOf(error), DomainError.is(error) ? error.code : 'INTERNAL');
        throw error;
      }
      write('ok', describe(result));
      return result;
    } finally {
      release();
    }
  }

  /** Whether there is space for an entry beyond the space of the changes that have begun. */
  hasSpace(): boolean {
    try {
      this.log.reserve()();
      return true;
    } catch (error) {
      if (DomainError.is(error, 'REGISTRY_FULL')) return false;
      throw error;
    }
  }

  /** Writes an entry with the time, the caller and the origin of the request. */
  append(
    caller: Author,
    entry: Omit<AuditEntry, 'time' | 'caller' | 'token' | 'address' | 'route'> & Pick<AuditEntry, 'route'>,
  ): void {
    const { login, token, origin, rehearsed } = caller;
    this.recorded.add(caller);
    this.log.append({
      time: this.clock.iso(),
      caller: login,
      ...(token === undefined ? {} : { token }),
      ...(origin === undefined ? {} : origin),
      ...entry,
      ...(rehearsed && { message: [entry.message, rehearsed.note].filter(Boolean).join(' ') }),
    });
    for (const listener of [...this.listeners]) listener();
  }

  /** Calls back after each entry, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Whether the request of a caller has an entry. Every request has a caller object of its own. */
  hasEntryOf(caller: Author): boolean {
    return this.recorded.has(caller);
  }
}
