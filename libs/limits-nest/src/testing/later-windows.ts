import { type Claim, type Rate, type RateTerms, RateStore, type RateWindows } from '@headgate/limits-core';

/** Windows that answer later, as those on a server do. */
export class LaterWindows extends RateStore {
  constructor(private readonly windows: RateWindows) {
    super();
  }

  override define(name: string, terms: RateTerms): Rate {
    return this.windows.define(name, terms);
  }

  override async count(rate: Rate, key: string) {
    await this.#later();
    return this.windows.count(rate, key);
  }

  override async reserve(claims: readonly Claim[]) {
    await this.#later();
    const answer = this.windows.reserve(claims);
    if (!answer.granted) return answer;
    const settle = async (outcome: 'keep' | 'forget' | 'release') => {
      await this.#later();
      answer[outcome]();
    };
    return {
      granted: true as const,
      keep: () => settle('keep'),
      forget: () => settle('forget'),
      release: () => settle('release'),
    };
  }

  override async peek(rate: Rate, key: string) {
    return this.windows.peek(rate, key);
  }

  override async forgive(rate: Rate, key: string) {
    return this.windows.forgive(rate, key);
  }

  #later(): Promise<void> {
    return new Promise((next) => setImmediate(next));
  }
}
