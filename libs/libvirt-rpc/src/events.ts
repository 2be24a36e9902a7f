import { RpcConnectionError, LibvirtError, ErrorNumber, XdrError } from './errors.js';
import { procedures } from './procedures.js';
import type { RpcConnection } from './rpc-connection.js';
import { int, nullable, string, struct, uint, unsignedHyper, type Codec } from './wire/codec.js';
import { domain, typedParams, type WireDomain } from './wire/types.js';
import { XdrReader } from './wire/xdr-reader.js';

interface EventType<T> {
  /** `virDomainEventID`. */
  readonly id: number;
  /** The procedure of its messages. */
  readonly procedure: number;
  readonly codec: Codec<T>;
}

/** Older messages contain the callback, and then the same message as before there were callbacks. */
const event = <T extends object>(id: number, procedure: number, fields: { readonly [K in keyof T]: Codec<T[K]> }) => ({
  id,
  procedure,
  codec: struct({ callbackId: int, ...fields }) as unknown as Codec<T & { readonly domain: WireDomain }>,
});

const MAX_JOB_STATS = 64;
const device = { domain, alias: string };
const ioError = { domain, path: string, alias: string, action: int };

/** The events of domains that this client decodes, by virsh's names, with the fields of their messages. */
export const domainEvents = {
  lifecycle: event(0, 318, { domain, event: int, detail: int }),
  reboot: event(1, 319, { domain }),
  watchdog: event(3, 321, { domain, action: int }),
  'io-error': event(4, 322, ioError),
  'io-error-reason': event(6, 324, { ...ioError, reason: string }),
  'control-error': event(7, 325, { domain }),
  'disk-change': event(9, 327, {
    domain,
    oldPath: nullable(string),
    newPath: nullable(string),
    alias: string,
    reason: int,
  }),
  'pm-wakeup': event(11, 329, { reason: int, domain }),
  'pm-suspend': event(12, 330, { reason: int, domain }),
  'pm-suspend-disk': event(14, 332, { reason: int, domain }),
  'device-removed': event(15, 333, device),
  'block-job-2': event(16, 339, { domain, target: string, type: int, status: int }),
  'agent-lifecycle': event(18, 348, { domain, state: int, reason: int }),
  'device-added': event(19, 354, device),
  'job-completed': event(21, 363, { domain, stats: typedParams(MAX_JOB_STATS) }),
  'device-removal-failed': event(22, 367, device),
  'metadata-change': event(23, 379, { domain, type: int, namespace: nullable(string) }),
  'memory-failure': event(25, 423, { domain, recipient: int, action: int, flags: uint }),
  'memory-device-size-change': event(26, 438, { domain, alias: string, size: unsignedHyper }),
} as const;

export type DomainEventName = keyof typeof domainEvents;

type MessageOf<T> = T extends EventType<infer M> ? M : never;

/** An event with the fields of its message. */
export type DomainEventMessage = {
  [N in DomainEventName]: { readonly name: N } & MessageOf<(typeof domainEvents)[N]>;
}[DomainEventName];

/** `virDomainEventType` of lifecycle events. */
export const LifecycleEvent = {
  defined: 0,
  undefined: 1,
  started: 2,
  suspended: 3,
  resumed: 4,
  stopped: 5,
  shutdown: 6,
  pmSuspended: 7,
  crashed: 8,
} as const;

const FEATURE_EVENT_CALLBACKS = 14;
const ALL_EVENTS = Object.keys(domainEvents) as DomainEventName[];

/**
 * Subscribes a connection to events of all domains. When it resolves, libvirt has confirmed each subscription, so that
 * every later change is emitted. Events that the daemon is too old to know are left out, except `lifecycle`.
 * @throws RpcConnectionError `unsupported` if the daemon has no event callbacks
 */
export async function subscribeToEvents(
  connection: RpcConnection,
  listener: (event: DomainEventMessage) => void,
  names: readonly DomainEventName[] = ALL_EVENTS,
): Promise<void> {
  const { isSupported } = await connection.call(procedures.connectSupportsFeature, {
    feature: FEATURE_EVENT_CALLBACKS,
  });
  if (!isSupported) throw new RpcConnectionError('unsupported', 'This libvirt is too old for event callbacks.');
  await Promise.all(
    names.map(async (name) => {
      const { id, procedure, codec } = domainEvents[name];
      // The first event may arrive before the reply.
      connection.onEvent(procedure, (payload) => {
        const message = decode(codec as Codec<object>, payload);
        listener({ name, ...message } as DomainEventMessage);
      });
      try {
        await connection.call(procedures.domainEventRegister, { eventId: id, domain: null });
      } catch (error) {
        if (name === 'lifecycle' || !isUnknownEvent(error)) throw error;
      }
    }),
  );
}

const isUnknownEvent = (error: unknown): boolean =>
  error instanceof LibvirtError &&
  ([ErrorNumber.invalidArgument, ErrorNumber.noSupport, ErrorNumber.internalError] as number[]).includes(error.code);

function decode<T>(codec: Codec<T>, payload: Buffer): T {
  try {
    return codec.read(new XdrReader(payload));
  } catch (cause) {
    if (!(cause instanceof XdrError)) throw cause;
    throw new RpcConnectionError('protocol', `libvirt sent an event that can't be decoded: ${cause.message}`, {
      cause,
    });
  }
}
