import type { InstanceKind } from '@headgate/domain-contracts';
import { formatRef } from '@headgate/domain-contracts';
import type { ContextState, Fleet, FleetEvent } from '@headgate/fleet';
import type { FastifyReply } from 'fastify';
import { presentEntry } from './present.js';

/** A reader with more than this waiting is let go; the browser comes back and gets a new snapshot. In bytes. */
const MAX_WAITING = 33_554_432;
/** A comment this often tells proxies and readers that the stream lives, in milliseconds. */
const HEARTBEAT = 15_000;

/** Tells the fleet's changes as server-sent events: one `snapshot`, then `changed`, `removed` and `status`. */
export class EventStreams {
  private readonly open = new Set<FastifyReply['raw']>();

  constructor(private readonly fleet: Fleet) {}

  async begin(kind: InstanceKind, reply: FastifyReply): Promise<void> {
    await this.fleet.whenSynced();
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      vary: 'accept',
    });
    for (const state of this.fleet.states()) raw.write(event('status', presentState(state)));
    raw.write(snapshot(this.fleet, kind));
    const unsubscribe = this.fleet.subscribe((change) => this.tell(raw, kind, change));
    const heartbeat = setInterval(() => raw.write(':\n\n'), HEARTBEAT);
    heartbeat.unref();
    this.open.add(raw);
    raw.once('close', () => {
      unsubscribe();
      clearInterval(heartbeat);
      this.open.delete(raw);
    });
  }

  close(): void {
    for (const raw of this.open) raw.end();
  }

  private tell(raw: FastifyReply['raw'], kind: InstanceKind, change: FleetEvent): void {
    if (raw.writableLength > MAX_WAITING) return void raw.destroy();
    if (change.type === 'status') return void raw.write(event('status', presentState(change.state)));
    const instance = change.type === 'changed' ? change.entry.instance : change.instance;
    if (instance.ref.kind !== kind) return;
    if (change.type === 'changed') raw.write(event('changed', presentEntry(change.entry)));
    else raw.write(event('removed', { ref: formatRef(instance.ref) }));
  }
}

const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** The list even when no context can be reached: the stream stays open and says so. */
function snapshot(fleet: Fleet, kind: InstanceKind): string {
  const anyContext = fleet.states().some(({ state }) => state !== 'lost');
  const json = anyContext ? fleet.list(kind).json.toString() : JSON.stringify([...fleet.all(kind)].map(presentEntry));
  return `event: snapshot\ndata: ${json}\n\n`;
}

const presentState = ({ context, kind, state, reason }: ContextState): object => ({
  context,
  backend: kind,
  up: state === 'up',
  reason,
});
