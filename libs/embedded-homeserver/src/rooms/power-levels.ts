import { isJsonObject, type JsonObject } from '@headgate/matrix-protocol';

/** The levels of an `m.room.power_levels` event besides those of users and event types, with their defaults. */
export const LEVEL_DEFAULTS = {
  ban: 50,
  events_default: 0,
  invite: 0,
  kick: 50,
  redact: 50,
  state_default: 50,
  users_default: 0,
} as const;
export type LevelName = keyof typeof LEVEL_DEFAULTS;

/** The power levels of a room's members, and those that its actions require. */
export class PowerLevels {
  private constructor(
    readonly content: JsonObject,
    /** Whether no levels have been set yet. */
    readonly unset: boolean,
  ) {}

  /** @param content of the room's `m.room.power_levels`; without one, only the creator has power */
  static of(content: JsonObject | undefined, creator: string): PowerLevels {
    return new PowerLevels(content ?? { users: { [creator]: 100 } }, content === undefined);
  }

  named(name: LevelName): number {
    return levelOr(this.content[name], LEVEL_DEFAULTS[name]);
  }

  ofUser(userId: string): number {
    return levelOr(entry(this.content.users, userId), this.named('users_default'));
  }

  toSend(type: string, isState: boolean): number {
    return levelOr(entry(this.content.events, type), this.named(isState ? 'state_default' : 'events_default'));
  }
}

const levelOr = (value: unknown, fallback: number): number => (typeof value === 'number' ? value : fallback);

const entry = (levels: unknown, name: string): unknown =>
  isJsonObject(levels) && Object.hasOwn(levels, name) ? levels[name] : undefined;
