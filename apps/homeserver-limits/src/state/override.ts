import type { RuleKey } from '@headgate/limit-rules';
import { isRoomId, MatrixError, parseUserId } from '@headgate/matrix-protocol';
import { MAX_RATE } from '../config/ratelimit.section.js';

/** Every rule by user or by room, for overrides with a factor. */
export const ALL_RULES = '*';
const MAX_FACTOR = 1_000;
const MAX_REASON_CHARACTERS = 200;
const MAX_KEY_CHARACTERS = 255;
const MAX_DURATION_MS = 400 * 24 * 60 * 60 * 1000;
const ISO_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Another limit for one key of a rule, or of every rule. */
export interface Override {
  /** The name of a rule, or `*`. */
  readonly rule: string;
  /** A user ID, a room ID, or another key of the rule. */
  readonly key: string;
  /** Either this, or `limit`. */
  readonly factor?: number | undefined;
  readonly limit?: number | undefined;
  /** When it ends, in milliseconds since 1970. */
  readonly untilMs: number;
  readonly reason: string;
}

/** What overrides have to know of a rule. */
export interface OverridableRule {
  readonly name: string;
  readonly by: RuleKey;
  readonly limit: number;
  /** The highest limit of its own that a key may have; a million units of the rule when left out. */
  readonly maxLimit?: number;
}

/**
 * The override that an operator asks for.
 * @param rules the rules in force, and the caps
 * @throws MatrixError M_INVALID_PARAM, M_NOT_FOUND for a rule that does not exist
 */
export function readOverride(
  rule: string,
  key: string,
  body: unknown,
  { rules, nowMs }: { rules: readonly OverridableRule[]; nowMs: number },
): Override {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('The body must be an object.');
  const { factor, limit, until, reason, ...others } = body as Record<string, unknown>;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(`${other.slice(0, 40)} is not known; use factor or limit, until and reason.`);
  const named = rules.find(({ name }) => name === rule);
  if (rule !== ALL_RULES && !named) throw MatrixError.notFound('There is no such rule.');
  requireKey(key, named?.by);
  if ((factor === undefined) === (limit === undefined)) throw invalid('Give either factor or limit.');
  if (limit !== undefined && !named) throw invalid('An override of all rules has a factor, and no limit.');
  // The limiter counts in units of a millionth of the rule's limit.
  const maxLimit = named?.maxLimit ?? Math.ceil((named?.limit ?? 1) / MAX_RATE) * MAX_RATE;
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= maxLimit))
    throw invalid(`limit must be a whole number from 1 to ${maxLimit}.`);
  if (factor !== undefined && !(typeof factor === 'number' && factor > 0 && factor <= MAX_FACTOR))
    throw invalid(`factor must be a number above 0, and at most ${MAX_FACTOR}.`);
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > MAX_REASON_CHARACTERS)
    throw invalid(`reason must be a text of 1 to ${MAX_REASON_CHARACTERS} characters.`);
  const untilMs = typeof until === 'string' && ISO_DATE.test(until) ? Date.parse(until) : NaN;
  if (!(untilMs > nowMs && untilMs <= nowMs + MAX_DURATION_MS))
    throw invalid('until must be a date such as 2030-01-31T12:00:00Z, within the next 400 days.');
  return {
    rule,
    key,
    ...(limit === undefined ? { factor: Number(factor) } : { limit: Number(limit) }),
    untilMs,
    reason,
  };
}

function requireKey(key: string, by: RuleKey | undefined): void {
  if (by === 'server') throw invalid('The rule has one key for all callers: change its limit in the configuration.');
  const isUser = parseUserId(key) !== undefined;
  if (by === 'user' && !isUser) throw invalid('key must be a user ID.');
  if (by === 'room' && !isRoomId(key)) throw invalid('key must be a room ID.');
  if (by === undefined && !isUser && !isRoomId(key)) throw invalid('key must be a user ID or a room ID.');
  if (key.length > MAX_KEY_CHARACTERS) throw invalid(`key has at most ${MAX_KEY_CHARACTERS} characters.`);
}

const invalid = (message: string): MatrixError => MatrixError.invalidParam(message);
