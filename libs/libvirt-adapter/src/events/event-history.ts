import type { InstanceEvent } from '@headgate/domain-contracts';
import type { DomainEvent } from '../connection/domain-events.js';

/** Events of one domain, and domains, that are kept. */
const MAX_EVENTS = 100;
const MAX_DOMAINS = 10_000;

/** Events that mean a problem. */
const WARNINGS: ReadonlySet<string> = new Set([
  'Crashed',
  'watchdog',
  'io-error',
  'io-error-reason',
  'control-error',
  'memory-failure',
  'device-removal-failed',
]);
/** Details that make another event a problem. */
const BAD_DETAILS = /^(Crashed|Panicked|Failed|IOError|I\/O Error|Watchdog|API error)$/i;

/** libvirt also sends the older form of some events, and events that the service itself causes all the time. */
const REPEATED: ReadonlySet<string> = new Set(['io-error', 'metadata-change', 'job-completed']);

interface DomainHistory {
  /** Oldest first. */
  readonly events: InstanceEvent[];
}

/** The latest events that libvirt has emitted, in memory: libvirt itself keeps none. */
export class EventHistory {
  /** By the name of the domain in libvirt; the domain with the latest event is the last one. */
  private readonly histories = new Map<string, DomainHistory>();

  /** @param iso the current time, ISO 8601 */
  constructor(private readonly iso: () => string) {}

  record(event: DomainEvent): void {
    const { kind, domain, action, detail } = event;
    if (REPEATED.has(kind)) return;
    // A later domain of the same name does not inherit its events.
    if (action === 'Undefined') return void this.histories.delete(domain);
    const reason = action ?? kind;
    const isWarning = WARNINGS.has(reason) || BAD_DETAILS.test(detail ?? '');
    const history = this.histories.get(domain) ?? { events: [] };
    history.events.push({
      time: this.iso(),
      type: isWarning ? 'Warning' : 'Normal',
      reason,
      object: `Domain/${domain}`,
      message: detail === undefined ? `libvirt reports ${reason}.` : `libvirt reports ${reason}: ${detail}.`,
    });
    if (history.events.length > MAX_EVENTS) history.events.shift();
    this.histories.delete(domain);
    this.histories.set(domain, history);
    if (this.histories.size > MAX_DOMAINS) this.histories.delete(this.histories.keys().next().value ?? '');
  }

  /** Newest first. @param domain its name in libvirt */
  recent(domain: string, limit: number): readonly InstanceEvent[] {
    return (this.histories.get(domain)?.events ?? []).slice(-limit).reverse();
  }
}
