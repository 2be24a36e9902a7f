import type { DecisionListener } from '@headgate/limits-nest';
import { MatrixError } from '@headgate/matrix-protocol';
import type { RefusalLog } from '../reports/refusal-log.js';
import type { Rules } from '../rules/rules.js';
import type { DenyLists, DenyMatch } from './deny-lists.js';

/** The name of a list in metrics, in the log and on the desk. Rules have no colon in theirs. */
export const denyRuleOf = (list: string): string => `deny:${list}`;

interface KnownCaller {
  readonly address: string;
  readonly source: string;
}

export interface DenyGateDeps {
  readonly lists: Pick<DenyLists, 'isEmpty' | 'of'>;
  /** Exempt networks are never denied. */
  readonly rules: Pick<Rules, 'isExempt'>;
  readonly watch: DecisionListener;
  readonly refusals: Pick<RefusalLog, 'denied'>;
}

/** Refuses requests of the addresses that are on a list. */
export class DenyGate {
  constructor(private readonly deps: DenyGateDeps) {}

  /** Whether there is nothing to check. */
  get isOpen(): boolean {
    return this.deps.lists.isEmpty;
  }

  /** Whether a list has something to say about a caller. Nothing is reported. */
  concerns(caller: KnownCaller): boolean {
    return this.matches(caller).length > 0;
  }

  /** Whether a caller is refused. Nothing is reported. */
  refuses(caller: KnownCaller): boolean {
    return this.matches(caller).some(({ shadow }) => !shadow);
  }

  /**
   * Reports the request under every list that its address is on.
   * @param path without secrets
   * @returns the refusal, 403 M_FORBIDDEN; undefined if no list refuses it
   */
  refusalOf(caller: KnownCaller, path: string): MatrixError | undefined {
    const matches = this.matches(caller);
    for (const { name, shadow } of matches) {
      const rule = denyRuleOf(name);
      this.deps.watch(rule, shadow ? 'shadow_refused' : 'refused');
      this.deps.refusals.denied(rule, { key: caller.address, address: caller.address, path }, shadow);
    }
    if (matches.every(({ shadow }) => shadow)) return undefined;
    // The name of the list is for the operator.
    return new MatrixError(403, 'M_FORBIDDEN', 'Requests from your address are not allowed.');
  }

  private matches(caller: KnownCaller): DenyMatch[] {
    const { lists, rules } = this.deps;
    if (lists.isEmpty) return [];
    const matches = lists.of(caller);
    return matches.length > 0 && rules.isExempt(caller) ? [] : matches;
  }
}
