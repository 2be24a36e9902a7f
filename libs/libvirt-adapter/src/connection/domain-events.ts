import type { DomainError } from '@headgate/domain-contracts';

export interface DomainEvent {
  /** virsh's name of the event: `lifecycle`, `metadata-change`, … */
  readonly kind: string;
  /** The domain's name in libvirt. */
  readonly domain: string;
  /** What happened, such as `Started`, for events that have several meanings. */
  readonly action?: string;
  /** Its cause, such as `Booted`. */
  readonly detail?: string;
  /** Whether the domain has started. */
  readonly isStart: boolean;
}

export interface EventListener {
  event(event: DomainEvent): void;
  /** Called once if the subscription ends without `stop()`. */
  ended(error: DomainError): void;
}

export interface EventSubscription {
  /** Whether libvirt has confirmed the subscription, so that every later change is emitted. */
  readonly isConfirmed: boolean;
  stop(): Promise<void>;
}

/** Events that never change an inventory entry; some are emitted every second. */
const IRRELEVANT: ReadonlySet<string> = new Set([
  'balloon-change',
  'rtc-change',
  'graphics',
  'block-threshold',
  'migration-iteration',
  'tray-change',
  'tunable',
]);

export const mayChangeInventory = (kind: string): boolean => !IRRELEVANT.has(kind);
