import { messageOf, type Log } from '@headgate/domain-contracts';
import type { PluginOffer, PluginSource } from './plugin-source.js';

/** The offers of all sources. */
export interface StoreOffers {
  /** By name. */
  readonly offers: ReadonlyMap<string, PluginOffer>;
  /** The sources that could not be read, with the reason. */
  readonly problems: ReadonlyMap<string, string>;
}

/**
 * Everything that can be installed. If two sources offer a name, the first one counts: bundled plugins can't be
 * replaced.
 */
export class PluginStore {
  constructor(
    private readonly sources: readonly PluginSource[],
    private readonly log: Log,
  ) {}

  async read(): Promise<StoreOffers> {
    const offers = new Map<string, PluginOffer>();
    const problems = new Map<string, string>();
    const answers = await Promise.allSettled(this.sources.map((source) => source.offers()));
    for (const [position, answer] of answers.entries()) {
      const origin = this.sources[position]?.origin ?? '';
      if (answer.status === 'rejected') {
        const reason = messageOf(answer.reason);
        this.log.warn({ index: origin, reason }, 'a plugin index could not be read');
        problems.set(origin, reason);
        continue;
      }
      for (const offer of answer.value) if (!offers.has(offer.name)) offers.set(offer.name, offer);
    }
    return { offers, problems };
  }
}
