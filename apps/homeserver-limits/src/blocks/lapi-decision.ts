import type { AddressBlock, EndedBlock } from '../state/address-blocks.js';
import { formatGoDuration } from '../config/go-duration.js';

/** A decision as CrowdSec's local API writes it. */
export interface LapiDecision {
  /** Until it ends, as Go writes it; negative once it has ended. */
  readonly duration: string;
  readonly id: number;
  readonly origin: string;
  readonly scenario: string;
  readonly scope: 'Ip' | 'Range';
  readonly type: 'ban';
  readonly value: string;
}

export const scenarioOf = (rule: string): string => `homeserver-limits/${rule}`;
export const scopeOf = (value: string): 'Ip' | 'Range' => (value.includes('/') ? 'Range' : 'Ip');

/** @param nowMs milliseconds since 1970 */
export function decisionOf(block: AddressBlock | EndedBlock, origin: string, nowMs: number): LapiDecision {
  const { id, rule, value, untilMs } = block;
  const leftMs = 'hasExpired' in block ? Math.min(-1_000, untilMs - nowMs) : Math.max(1, untilMs - nowMs);
  const [scenario, scope] = [scenarioOf(rule), scopeOf(value)];
  return { duration: formatGoDuration(leftMs), id, origin, scenario, scope, type: 'ban', value };
}
