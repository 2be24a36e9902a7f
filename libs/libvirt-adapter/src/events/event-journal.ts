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

interface Journal {
  /** Oldest first. */
  readonly events: InstanceEvent[];
}

/** The latest events that libvirt has emitted, in memory: libvirt itself keeps none. */
export class EventJournal {
  /** By the name of the domain in libvirt; the domain with the latest event is the last one. */
  private readonly journals = new Map<string, Journal>();

  /** @param iso the current time, ISO 8601 */
  constructor(private readonly iso: () => string) {}

  record(event: DomainEvent): void {
    const { kind, domain, action, detail } = event;
    if (REPEATED.has(kind)) return;
    // A later domain of the same name does not inherit its events.
    if (action === 'Undefined') return void this.journals.delete(domain);
    const reason = action ?? kind;
    const isWarning = WARNINGS.has(reason) || BAD_DETAILS.test(detail ?? '');
    const journal = this.journals.get(domain) ?? { events: [] };
    journal.events.push({
      time: this.iso(),
      type: isWarning ? 'Warning' : 'Normal',
      reason,
      object: `Domain/${domain}`,
      message: detail === undefined ? `libvirt reports ${reason}.` : `libvirt reports ${reason}: ${detail}.`,
    });
    if (journal.events.length > MAX_EVENTS) journal.events.shift();
    this.journals.delete(domain);
    this.journals.set(domain, journal);
    if (this.journals.size > MAX_DOMAINS) this.journals.delete(this.journals.keys().next().value ?? '');
  }

  /** Newest first. @param domain its name in libvirt */
  recent(domain: string, limit: number): readonly InstanceEvent[] {
    return (this.journals.get(domain)?.events ?? []).slice(-limit).reverse();
  }
}
