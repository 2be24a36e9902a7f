import { DomainError, type Caller } from '@headgate/domain-contracts';

export interface PlacesOptions {
  readonly max: number;
  readonly maxPerCaller: number;
  /** The reason of a refusal. @param own how many places the caller has */
  readonly refusalOf: (own: number) => string;
}

/** Places that are limited for the service, and for each of its callers. */
export class CallerPlaces {
  private readonly taken = new Map<string, number>();
  private count = 0;

  constructor(private readonly options: PlacesOptions) {}

  /**
   * @returns a function that releases the place
   * @throws DomainError TOO_MANY_STREAMS
   */
  take({ login, token }: Caller): () => void {
    const { max, maxPerCaller, refusalOf } = this.options;
    const owner = token === undefined ? `login ${login}` : `token ${token}`;
    const own = this.taken.get(owner) ?? 0;
    if (own >= maxPerCaller || this.count >= max) throw new DomainError('TOO_MANY_STREAMS', refusalOf(own));
    this.taken.set(owner, own + 1);
    this.count++;
    return () => {
      const rest = (this.taken.get(owner) ?? 1) - 1;
      if (rest === 0) this.taken.delete(owner);
      else this.taken.set(owner, rest);
      this.count--;
    };
  }
}
