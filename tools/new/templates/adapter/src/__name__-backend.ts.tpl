import {
  ABILITY_NAMES,
  Backend,
  UnavailableAbility,
  type Abilities,
  type AbilityName,
  type Clock,
} from '@headgate/domain-contracts';
import { __NAME___TRAITS } from './__name__-traits.js';

export interface __Name__BackendOptions {
  /** The operator's name for it. */
  readonly context: string;
  readonly clock: Clock;
}

/** One __Name__ engine. */
export class __Name__Backend extends Backend {
  override readonly traits = __NAME___TRAITS;

  private constructor(
    override readonly context: string,
    private readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility },
  ) {
    super();
  }

  /** Does no I/O and never fails: the inventory reports an engine that does not answer. */
  static open({ context }: __Name__BackendOptions): __Name__Backend {
    const missing = ABILITY_NAMES.map((name) => [name, new UnavailableAbility(`__Name__ has no ${name} yet.`)]);
    return new __Name__Backend(context, Object.fromEntries(missing) as Record<AbilityName, UnavailableAbility>);
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return this.abilities[name];
  }

  override async close(): Promise<void> {
    // Close the connections and watches that the abilities open. Guests keep running.
  }
}
