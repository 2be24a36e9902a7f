import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { HeldCounter } from '../rules/cap-rule.js';

/** Looks up the counters of cap rules. */
@Injectable()
export class HeldCounters {
  constructor(private readonly modules: ModuleRef) {}

  /** @throws Error when no module provides the class as a singleton */
  get(counter: Type<HeldCounter>): HeldCounter {
    return this.modules.get<HeldCounter>(counter, { strict: false });
  }
}
