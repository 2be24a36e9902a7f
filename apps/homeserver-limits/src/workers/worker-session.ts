import type { Admission } from '@headgate/limit-rules';
import { CapExceeded, RateExceeded } from '@headgate/limits-core';
import type { DecisionListener } from '@headgate/limits-nest';
import { type Channel, ChannelClosed, RemoteError } from '../link/channel.js';
import type { MainMethods, WorkerMethods } from '../link/protocol.js';
import type { RequestLimit, RequestLimitName } from '../edge/request-limit.js';
import type { RefusalLog } from '../reports/refusal-log.js';
import type { Caps } from '../rules/caps.js';
import type { Rules } from '../rules/rules.js';

/** What a worker's requests need of the main process. */
export interface SessionDeps {
  readonly rules: Pick<Rules, 'decide'>;
  readonly caps: Pick<Caps, 'ledger' | 'reserve'>;
  /** Absent if the requests in progress are not bounded. */
  readonly limit?: Pick<RequestLimit, 'take'> | undefined;
  readonly refusals: Pick<RefusalLog, 'own'>;
  readonly watch: DecisionListener;
  readonly metrics: () => Promise<string>;
}

/** Something that a worker holds. */
interface Held {
  /** The worker is gone without having settled it. */
  drop(): void | Promise<void>;
}

interface HeldAdmission extends Held {
  readonly admission: Admission;
}
interface HeldWrite extends Held {
  readonly settle: (isWritten: boolean, added?: number) => void;
}
interface HeldPlace extends Held {
  readonly leave: () => void;
}

/** The methods that decide on requests; the others are about connections. */
export type SessionMethods = Omit<MainMethods, 'taken' | 'lost' | 'closed'>;

/**
 * Decides on the requests of one worker, and knows what it holds. A worker that dies gives everything back: requests in
 * progress count, because the homeserver may have handled them, and holders are counted again.
 */
export class WorkerSession implements SessionMethods {
  private readonly admissions = new Map<number, HeldAdmission>();
  private readonly writes = new Map<number, HeldWrite>();
  private readonly places = new Map<number, HeldPlace>();
  private last = 0;
  private isOver = false;

  /** @param worker the way to the worker */
  constructor(
    private readonly deps: SessionDeps,
    private readonly worker: () => Pick<Channel<WorkerMethods>, 'call'>,
  ) {}

  /** How many things the worker holds. */
  get heldCount(): number {
    return this.admissions.size + this.writes.size + this.places.size;
  }

  /** Settles everything that the worker has left. Call it once, when the worker is gone. */
  async end(): Promise<void> {
    this.isOver = true;
    const left = [...this.admissions.values(), ...this.writes.values(), ...this.places.values()];
    for (const held of [this.admissions, this.writes, this.places]) held.clear();
    await Promise.all(left.map((held) => held.drop()));
  }

  async admit(facts: Parameters<MainMethods['admit']>[0]): ReturnType<MainMethods['admit']> {
    const decision = await this.deps.rules.decide(facts);
    if (!decision.granted) return { refusal: decision };
    if (decision.isSettled) return {};
    return { held: await this.hold(this.admissions, { admission: decision, drop: () => decision.settle('lost') }) };
  }

  settle({ held, outcome }: Parameters<MainMethods['settle']>[0]): void | Promise<void> {
    return take(this.admissions, held)?.admission.settle(outcome);
  }

  async reserveCap(asked: Parameters<MainMethods['reserveCap']>[0]): ReturnType<MainMethods['reserveCap']> {
    const { ledger } = this.deps.caps;
    const cap = this.capNamed(asked.cap);
    try {
      const reservation = await this.reserve(asked);
      const settle = (isWritten: boolean, added?: number) =>
        isWritten ? reservation.commit(added) : reservation.release();
      const drop = () => {
        reservation.release();
        ledger.expire(cap, asked.write.holder);
      };
      return { held: await this.hold(this.writes, { settle, drop }) };
    } catch (error) {
      if (error instanceof CapExceeded) return { limit: error.limit };
      throw error;
    }
  }

  settleCap({ held, isWritten, added }: Parameters<MainMethods['settleCap']>[0]): void {
    take(this.writes, held)?.settle(isWritten, added);
  }

  changeHolder({ change, cap: name, holder, amount }: Parameters<MainMethods['changeHolder']>[0]): void {
    const { ledger } = this.deps.caps;
    const cap = this.capNamed(name);
    if (change === 'free') ledger.free(cap, holder, amount);
    else ledger[change](cap, holder);
  }

  async enter({ name, ...caller }: Parameters<MainMethods['enter']>[0]): ReturnType<MainMethods['enter']> {
    try {
      const leave = await this.deps.limit?.take(name as RequestLimitName, caller);
      return leave ? { held: await this.hold(this.places, { leave, drop: leave }) } : {};
    } catch (error) {
      if (error instanceof RateExceeded) return { retryAfterMs: error.retryAfterMs };
      throw error;
    }
  }

  leave({ held }: Parameters<MainMethods['leave']>[0]): void {
    take(this.places, held)?.leave();
  }

  report({ rule, outcome }: Parameters<MainMethods['report']>[0]): void {
    this.deps.watch(rule, outcome);
  }

  refuse(refused: Parameters<MainMethods['refuse']>[0]): void {
    this.deps.refusals.own(refused);
  }

  metrics(): Promise<string> {
    return this.deps.metrics();
  }

  /** A count of another worker that fails says nothing about this one, which counts itself then. */
  private async reserve({ cap, write, count }: Parameters<MainMethods['reserveCap']>[0]) {
    for (;;) {
      let isOwn = false;
      try {
        return await this.deps.caps.reserve(this.capNamed(cap), write, () => {
          isOwn = true;
          return this.worker().call('countHeld', { count });
        });
      } catch (error) {
        const isOfOther = !isOwn && (error instanceof RemoteError || error instanceof ChannelClosed);
        if (!isOfOther || this.isOver) throw error;
      }
    }
  }

  private capNamed(name: string) {
    const cap = this.deps.caps.ledger.caps.find((one) => one.name === name);
    if (!cap) throw new RangeError(`There is no cap ${name}.`);
    return cap;
  }

  /** Keeps something for the worker, unless it is gone meanwhile. */
  private async hold<Kind extends Held>(all: Map<number, Kind>, held: Kind): Promise<number> {
    const id = ++this.last;
    if (this.isOver) await held.drop();
    else all.set(id, held);
    return id;
  }
}

function take<Kind>(all: Map<number, Kind>, id: number): Kind | undefined {
  const held = all.get(id);
  all.delete(id);
  return held;
}
