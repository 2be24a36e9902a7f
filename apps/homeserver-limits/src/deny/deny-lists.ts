import { isIP } from 'node:net';
import type { DeniedEntries } from '../link/protocol.js';
import { PrefixTable } from '../config/prefix-table.js';

/** A list that an address is on. */
export interface DenyMatch {
  readonly name: string;
  /** The list only reports. */
  readonly shadow: boolean;
}

interface Compiled extends DenyMatch {
  readonly table: PrefixTable;
}

/** The deny lists in force. */
export class DenyLists {
  private lists: readonly Compiled[] = [];

  /** Whether no address is denied, so that none has to be found out. */
  get isEmpty(): boolean {
    return this.lists.length === 0;
  }

  /** Replaces all lists at once. Lists that refuse come before those that only report. */
  replace(lists: readonly DeniedEntries[]): void {
    this.lists = lists
      .filter(({ entries }) => entries.length > 0)
      .map(({ name, shadow, entries }) => ({ name, shadow, table: new PrefixTable(entries) }))
      .sort((a, b) => Number(a.shadow) - Number(b.shadow));
  }

  /**
   * The lists that an address is on, those that refuse first.
   * @param source the key of the address: the IPv4 address of a caller whose IPv6 address contains it
   */
  of({ address, source }: { address: string; source: string }): DenyMatch[] {
    const isOn = ({ table }: Compiled) => table.has(address) || (isIP(source) === 4 && table.has(source));
    return this.lists.filter(isOn).map(({ name, shadow }) => ({ name, shadow }));
  }
}
