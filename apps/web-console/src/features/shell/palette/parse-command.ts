import type { Action, ActionId } from '../../../shared/actions/action.js';
import { folded, RANK, rankOf } from './text-rank.js';

/** A text that begins with the verb of an action: "restart web-1", "sto web". */
export interface Command {
  /** The actions that the verb may mean, the best first. */
  readonly ids: readonly ActionId[];
  /** The rest of the text; empty for a verb alone. */
  readonly name: string;
  /** Whether the verb is written out. */
  readonly isComplete: boolean;
}

/** "Shut down" and "Force stop". */
const MOST_WORDS = 2;
/** One letter begins too many verbs. */
const LEAST_LETTERS = 2;

/**
 * Reads a verb, by the label or the ID of an action, and a name. As many words as possible are the verb.
 * @returns undefined for a text that does not begin with a verb
 */
export function parseCommand(text: string, actions: readonly Pick<Action, 'id' | 'label'>[]): Command | undefined {
  const words = text.trim().split(/\s+/);
  for (let count = Math.min(MOST_WORDS, words.length); count > 0; count--) {
    const found = matchVerb(folded(words.slice(0, count).join(' ')), actions);
    if (found) return { ...found, name: text.trim().replace(new RegExp(`^(?:\\S+\\s*){${count}}`), '') };
  }
  return undefined;
}

function matchVerb(
  verb: string,
  actions: readonly Pick<Action, 'id' | 'label'>[],
): Pick<Command, 'ids' | 'isComplete'> | undefined {
  if (verb.length < LEAST_LETTERS) return undefined;
  const ranks = new Map<ActionId, number>();
  for (const { id, label } of actions)
    for (const phrase of [folded(label), id, id.replace('-', ' ')]) {
      const rank = rankOf(phrase, verb);
      if (rank !== undefined && rank <= RANK.wordStart) ranks.set(id, Math.min(rank, ranks.get(id) ?? rank));
    }
  if (ranks.size === 0) return undefined;
  const sorted = [...ranks].sort(([, a], [, b]) => a - b);
  return { ids: sorted.map(([id]) => id), isComplete: sorted[0]?.[1] === RANK.exact };
}
