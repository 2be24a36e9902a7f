import {
  formatRef,
  plainText,
  UnavailableAbility,
  type AuditEntry,
  type AuditLog,
  type InstanceEvent,
  type InstanceQuery,
  type InstanceSources,
} from '@headgate/domain-contracts';

/** An event of the backend, or an action of this service. */
export interface SourcedEvent extends InstanceEvent {
  readonly source: 'cluster' | 'service';
  /** Who asked for the action; empty for a caller without an identity. */
  readonly caller?: string;
}

export interface ReadEventsDeps extends InstanceSources {
  readonly audit: AuditLog;
}

const MAX_EVENTS = 50;

/** Reads the recent events of an instance: those of its backend, and what this service did to it. */
export class ReadEvents {
  constructor(private readonly deps: ReadEventsDeps) {}

  /** At most 50, newest first. @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE */
  async read(query: InstanceQuery): Promise<readonly SourcedEvent[]> {
    const { directory, backends, audit } = this.deps;
    const { ref } = directory.resolve(query);
    const backend = backends.get(ref.context);
    const hasEvents = !(backend.abilityFor(ref.kind, 'events') instanceof UnavailableAbility);
    const reported = hasEvents ? await backend.requireFor(ref.kind, 'events').recent(ref, MAX_EVENTS) : [];
    const text = formatRef(ref);
    return [
      ...reported.map((event) => ({ ...withPlainTexts(event), source: 'cluster' as const })),
      ...audit.recent(MAX_EVENTS, text).map(presentEntry),
    ]
      .sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0))
      .slice(0, MAX_EVENTS);
  }
}

/** Events quote programs, servers and guests. */
const withPlainTexts = (event: InstanceEvent): InstanceEvent => ({
  ...event,
  reason: plainText(event.reason),
  object: plainText(event.object),
  message: plainText(event.message),
});

const presentEntry = ({ time, caller, action, ref, outcome, message }: AuditEntry): SourcedEvent => ({
  time,
  type: outcome === 'ok' ? 'Normal' : 'Warning',
  reason: action,
  object: ref,
  message: message || (caller === '' ? 'Requested.' : `Requested by ${caller}.`),
  source: 'service',
  caller,
});
