import type { AddressBlocks } from '../state/address-blocks.js';
import { type NamedTokens, TokenNames } from './named-tokens.js';

/** The blocks that bouncers may read, and the keys of the bouncers. */
export class BlockExport {
  readonly bouncers: TokenNames;

  constructor(
    /** Undefined when no block is exported. */
    readonly source: AddressBlocks | undefined,
    keys: NamedTokens = {},
  ) {
    this.bouncers = new TokenNames(keys);
  }
}
