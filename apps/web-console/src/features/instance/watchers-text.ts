import type { WatcherView } from '@headgate/api-contracts';

/** Callers without an identity have no name. */
const nameOf = ({ who, you }: WatcherView): string => (you ? 'you' : who || 'another user');

/**
 * `bob is watching`, or undefined when there is none.
 * @param own how many of the caller's own consoles are on this page, and are not worth a word
 */
export function watchersText(watchers: readonly WatcherView[], own: number): string | undefined {
  const yours = watchers.filter(({ you }) => you).slice(own);
  const names = [...new Set([...watchers.filter(({ you }) => !you), ...yours].map(nameOf))];
  const [first, second] = names;
  if (first === undefined) return undefined;
  if (names.length > 2) return `${first} and ${names.length - 1} others are watching`;
  if (second !== undefined) return `${first} and ${second} are watching`;
  return first === 'you' ? 'You are watching in another window' : `${first} is watching`;
}
