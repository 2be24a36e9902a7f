import { isJsonObject, type JsonObject, MatrixError, parseUserId } from '@headgate/matrix-protocol';
import { LEVEL_DEFAULTS, type LevelName, type PowerLevels } from './power-levels.js';

const NAMES = Object.keys(LEVEL_DEFAULTS) as LevelName[];
const TABLES = ['events', 'notifications', 'users'] as const;

/**
 * Checks that a member may set these power levels: no one can grant more power than they have, or reduce that of their
 * equals.
 * @throws MatrixError M_BAD_JSON, M_FORBIDDEN
 */
export function checkPowerLevels(current: PowerLevels, sender: string, content: JsonObject): void {
  checkShape(content);
  if (current.unset) return;
  const own = current.ofUser(sender);
  for (const name of NAMES) checkChange(own, current.content[name], content[name], name);
  for (const table of TABLES) {
    const [before, after] = [tableOf(current.content, table), tableOf(content, table)];
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      checkChange(own, before.get(name), after.get(name), name);
      if (table === 'users' && name !== sender) checkEqual(own, before.get(name), after.get(name), name);
    }
  }
}

function checkShape(content: JsonObject): void {
  const levels = NAMES.filter((name) => content[name] !== undefined).map((name) => content[name]);
  for (const table of TABLES) {
    if (content[table] === undefined) continue;
    if (!isJsonObject(content[table])) throw MatrixError.badJson(`${table} must be an object.`);
    levels.push(...Object.values(content[table]));
  }
  if (!levels.every((level) => Number.isSafeInteger(level)))
    throw MatrixError.badJson('A power level must be an integer.');
  const invalid = [...tableOf(content, 'users').keys()].find((userId) => !parseUserId(userId));
  if (invalid !== undefined) throw MatrixError.badJson('users must be named by their user IDs.');
}

function checkChange(own: number, before: unknown, after: unknown, name: string): void {
  if (before === after) return;
  if (Number(before ?? 0) > own || Number(after ?? 0) > own) {
    throw MatrixError.forbidden(`Your power level ${own} is too low to change ${name}.`);
  }
}

function checkEqual(own: number, before: unknown, after: unknown, name: string): void {
  if (before !== undefined && before !== after && Number(before) >= own) {
    throw MatrixError.forbidden(`${name} has at least your power level.`);
  }
}

const tableOf = (content: JsonObject, table: string): Map<string, unknown> =>
  new Map(isJsonObject(content[table]) ? Object.entries(content[table]) : []);
