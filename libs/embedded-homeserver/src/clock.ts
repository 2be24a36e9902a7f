import { Injectable } from '@nestjs/common';

/** The wall clock, in ms since 1970: what is stored must mean the same after a restart. */
export abstract class WallClock {
  abstract now(): number;
}

@Injectable()
export class SystemClock extends WallClock {
  override now(): number {
    return Date.now();
  }
}
