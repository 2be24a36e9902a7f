import { CallerConnections, may, type Need } from '@headgate/access';
import { formatRef, type Caller, type Instance } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { InstanceAccess } from './instance-access.js';

/** Closes consoles and logs of instances when their callers lose the right to them. */
export class InstanceConnections {
  constructor(
    private readonly callers: CallerConnections,
    private readonly access: InstanceAccess,
    private readonly fleet: FleetReader,
  ) {}

  /**
   * Closes a connection when the API token or the session of its caller ends, when the caller loses a role, and
   * when the instance leaves the folders of the caller.
   * @param needs what the caller had when it was opened; each of them must still hold
   * @returns call it when the connection has ended
   */
  closeWith(caller: Caller, opened: Instance, needs: readonly Need[], close: (reason: string) => void): () => void {
    const ref = formatRef(opened.ref);
    const check = (): void => {
      if (!this.holds(caller, opened, needs)) close('the rights of the user have changed');
    };
    const releases = [
      this.callers.closeWithCredential(caller, close),
      this.callers.subscribe(check),
      this.fleet.subscribe((event) => {
        if (event.type === 'changed' && formatRef(event.entry.instance.ref) === ref) check();
      }),
    ];
    // The rights may have changed since the request was admitted.
    check();
    return () => releases.forEach((release) => release());
  }

  /** Rights that can't be checked may have been taken away. */
  private holds({ grant }: Caller, opened: Instance, needs: readonly Need[]): boolean {
    try {
      const present = this.fleet.get(opened.ref);
      const instance = present?.uid === opened.uid ? present : opened;
      const target = { instance: this.access.subjectOf(instance) };
      return needs.every((need) => may(grant, need, target));
    } catch {
      return false;
    }
  }
}
