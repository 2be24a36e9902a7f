import { IsArray, IsBoolean, IsIn, IsISO8601, IsString } from 'class-validator';
import { Nested } from './fields.js';

export const WATCHED_CONSOLES = ['vnc', 'serial'] as const;
export type WatchedConsole = (typeof WATCHED_CONSOLES)[number];

/** An open console of a VM. */
export class WatcherView {
  /** The login name, or the name of a caller without one. */
  @IsString() who!: string;
  /** `vnc` is the screen, `serial` the serial console. */
  @IsIn(WATCHED_CONSOLES) kind!: WatchedConsole;
  /** When it was opened. */
  @IsISO8601() since!: string;
  /** Whether they may type. Otherwise they only watch. */
  @IsBoolean() mayType!: boolean;
  /** Whether the same login sent this request. */
  @IsBoolean() you!: boolean;
}

/** GET /api/ext/vms/{ns}/{name}/watchers */
export class WatchersView {
  /** Those of this replica, which shares a console between all of its viewers; the first to come first. */
  @IsArray() @Nested(() => WatcherView, { each: true }) watchers!: WatcherView[];
}
