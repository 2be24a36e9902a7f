import type { Clock } from '@headgate/clock';
import type { AuditLog } from '../ports/audit-log.port.js';
import type { Caller } from '../values/caller.js';
import { messageOf } from '../values/domain-error.js';
import { formatRef, type InstanceRef } from '../values/instance-ref.js';

/** Records changes in the audit log, each with its caller and outcome. */
export class Audit {
  constructor(
    private readonly log: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * @param subject an instance, or the text by which the log names another object
   * @param describe the message of a success
   */
  async of<T>(
    caller: Caller,
    action: string,
    subject: InstanceRef | string,
    work: () => Promise<T>,
    describe: (result: T) => string = () => '',
  ): Promise<T> {
    const ref = typeof subject === 'string' ? subject : formatRef(subject);
    const write = (outcome: 'ok' | 'error', message: string): void =>
      this.log.append({ time: this.clock.iso(), caller: caller.login, action, ref, outcome, message });
    let result: T;
    try {
      result = await work();
    } catch (error) {
      write('error', messageOf(error));
      throw error;
    }
    write('ok', describe(result));
    return result;
  }
}
