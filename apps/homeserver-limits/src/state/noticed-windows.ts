import {
  type Claim,
  type Rate,
  type RateRefusal,
  RateStore,
  type RateTerms,
  type Reservation,
  type WindowView,
} from '@headgate/limits-core';

/** Windows that tell when something in them has changed; a refusal changes nothing. */
export class NoticedWindows extends RateStore {
  constructor(
    private readonly windows: RateStore,
    private readonly changed: () => void,
  ) {
    super();
  }

  override define(name: string, terms: RateTerms): Rate {
    return this.windows.define(name, terms);
  }

  override count(rate: Rate, key: string): RateRefusal | undefined | Promise<RateRefusal | undefined> {
    const answer = this.windows.count(rate, key);
    if (answer instanceof Promise) return answer.then((refusal) => this.counted(refusal));
    return this.counted(answer);
  }

  override reserve(claims: readonly Claim[]): Reservation | RateRefusal | Promise<Reservation | RateRefusal> {
    const answer = this.windows.reserve(claims);
    return answer instanceof Promise ? answer.then((taken) => this.taken(taken)) : this.taken(answer);
  }

  override peek(rate: Rate, key: string): WindowView | Promise<WindowView> {
    return this.windows.peek(rate, key);
  }

  override forgive(rate: Rate, key: string): boolean | Promise<boolean> {
    this.changed();
    return this.windows.forgive(rate, key);
  }

  private counted(refusal: RateRefusal | undefined): RateRefusal | undefined {
    if (!refusal) this.changed();
    return refusal;
  }

  private taken(answer: Reservation | RateRefusal): Reservation | RateRefusal {
    if (!answer.granted) return answer;
    this.changed();
    const settled = (outcome: 'keep' | 'forget' | 'release') => {
      this.changed();
      return answer[outcome]();
    };
    return {
      granted: true,
      keep: () => settled('keep'),
      forget: () => settled('forget'),
      release: () => settled('release'),
    };
  }
}
