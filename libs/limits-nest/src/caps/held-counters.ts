import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { HeldCounter, type NamedCapRule } from '../rules/cap-rule.js';

/** The counters that rules name by their class. */
@Injectable()
export class HeldCounters {
  constructor(private readonly modules: ModuleRef) {}

  /** @throws Error when no module provides it, or not as a singleton */
  of({ held }: NamedCapRule): HeldCounter {
    return this.modules.get<HeldCounter>(held, { strict: false });
  }
}
