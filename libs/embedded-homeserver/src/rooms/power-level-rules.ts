import { isJsonObject, type JsonObject, MatrixError, parseUserId } from '@headgate/matrix-protocol';
import { LEVEL_DEFAULTS, type LevelName, type PowerLevels } from './power-levels.js';

const NAMES = Object.keys(LEVEL_DEFAULTS) as LevelName[];
const TABLES = ['events', 'notifications', 'users'] as const;

/**
 * Whether a member may set these power levels: nobody gives more power than he has, nor takes it from his equals.
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
  if (!levels.every((level) => Number.isSafeInteger(level))) throw MatrixError.badJson('A power level is an integer.');
  const stranger = [...tableOf(content, 'users').keys()].find((userId) => !parseUserId(userId));
  if (stranger !== undefined) throw MatrixError.badJson('users must be named by their user ids.');
}

function checkChange(own: number, before: unknown, after: unknown, name: string): void {
  if (before === after) return;
  if (Number(before ?? 0) > own || Number(after ?? 0) > own) {
    throw MatrixError.forbidden(`Your power level ${own} does not reach to change ${name}.`);
  }
}

function checkEqual(own: number, before: unknown, after: unknown, name: string): void {
  if (before !== undefined && before !== after && Number(before) >= own) {
    throw MatrixError.forbidden(`${name} has as much power as you.`);
  }
}

const tableOf = (content: JsonObject, table: string): Map<string, unknown> =>
  new Map(isJsonObject(content[table]) ? Object.entries(content[table]) : []);
