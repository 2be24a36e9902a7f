import {
  type RateKey,
  type Rate,
  type RateRefusal,
  RateLimiter,
  type RateOptions,
  type Reservation,
  type WindowState,
} from '@headgate/limits-core';

/** Windows that tell when something in them has changed; a refusal changes nothing. */
export class NoticedWindows extends RateLimiter {
  constructor(
    private readonly windows: RateLimiter,
    private readonly changed: () => void,
  ) {
    super();
  }

  override define(name: string, terms: RateOptions): Rate {
    return this.windows.define(name, terms);
  }

  override count(rate: Rate, key: string): RateRefusal | undefined | Promise<RateRefusal | undefined> {
    const answer = this.windows.count(rate, key);
    if (answer instanceof Promise) return answer.then((refusal) => this.counted(refusal));
    return this.counted(answer);
  }

  override reserve(claims: readonly RateKey[]): Reservation | RateRefusal | Promise<Reservation | RateRefusal> {
    const answer = this.windows.reserve(claims);
    return answer instanceof Promise ? answer.then((taken) => this.taken(taken)) : this.taken(answer);
  }

  override peek(rate: Rate, key: string): WindowState | Promise<WindowState> {
    return this.windows.peek(rate, key);
  }

  override reset(rate: Rate, key: string): boolean | Promise<boolean> {
    this.changed();
    return this.windows.reset(rate, key);
  }

  private counted(refusal: RateRefusal | undefined): RateRefusal | undefined {
    if (!refusal) this.changed();
    return refusal;
  }

  private taken(answer: Reservation | RateRefusal): Reservation | RateRefusal {
    if (!answer.granted) return answer;
    this.changed();
    const settled = (outcome: 'commit' | 'reset' | 'release') => {
      this.changed();
      return answer[outcome]();
    };
    return {
      granted: true,
      commit: () => settled('commit'),
      reset: () => settled('reset'),
      release: () => settled('release'),
    };
  }
}
