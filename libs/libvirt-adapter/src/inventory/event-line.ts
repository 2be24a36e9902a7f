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

/** Kinds that say nothing about what the inventory shows; some of them come every second. */
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
