import {
  formatRef,
  messageOf,
  type AuditLog,
  type Caller,
  type Clock,
  type InstanceRef,
} from '@headgate/domain-contracts';

/** Records each change of an instance in the audit log, with its caller and outcome. */
export class Audit {
  constructor(
    private readonly log: AuditLog,
    private readonly clock: Clock,
  ) {}

  async of<T>(caller: Caller, action: string, ref: InstanceRef, work: () => Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await work();
    } catch (error) {
      this.write(caller, action, ref, 'error', messageOf(error));
      throw error;
    }
    this.write(caller, action, ref, 'ok', '');
    return result;
  }

  private write(caller: Caller, action: string, ref: InstanceRef, outcome: 'ok' | 'error', message: string): void {
    this.log.append({ time: this.clock.iso(), caller: caller.login, action, ref: formatRef(ref), outcome, message });
  }
}
