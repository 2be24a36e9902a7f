import { t, plural } from '@lingui/core/macro';
import type { WatcherView } from '@headgate/api-contracts';

/** Callers without an identity have no name. */
const nameOf = ({ who, you }: WatcherView): string => (you ? t`you` : who || t`another user`);

/**
 * `bob is watching`, or undefined when there is none.
 * @param own how many of the caller's own consoles are on this page, and are not worth a word
 */
export function watchersText(watchers: readonly WatcherView[], own: number): string | undefined {
  const yours = watchers.filter(({ you }) => you).slice(own);
  const names = [...new Set([...watchers.filter(({ you }) => !you), ...yours].map(nameOf))];
  const [first, second] = names;
  if (first === undefined) return undefined;
  if (names.length > 2)
    return t`${first} and ${plural(names.length - 1, { one: '# other', other: '# others' })} are watching`;
  if (second !== undefined) return t`${first} and ${second} are watching`;
  return yours.length > 0 ? t`You are watching in another window` : t`${first} is watching`;
}
