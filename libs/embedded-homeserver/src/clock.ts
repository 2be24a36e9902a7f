import { Injectable } from '@nestjs/common';

/** The wall clock, in ms since 1970. Stored times keep their meaning after a restart. */
export abstract class WallClock {
  abstract now(): number;
}

@Injectable()
export class SystemClock extends WallClock {
  override now(): number {
    return Date.now();
  }
}
