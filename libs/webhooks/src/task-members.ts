import type { TaskMember } from '@headgate/domain-contracts';

/** The parts of a body that decide who gets it. */
export interface EventBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly ref?: string;
    readonly status?: string;
    readonly members?: readonly TaskMember[];
  } & Readonly<Record<string, unknown>>;
}

/** The instances of a task with several; undefined for another body. */
export const memberRefsIn = ({ data }: EventBody): readonly string[] | undefined => data.members?.map(({ ref }) => ref);

/**
 * The end of a task with the members that a webhook sees only. Its status and its error are those of these members.
 * @returns undefined if it sees none of them
 */
export function filterMembers(
  { data, ...body }: EventBody,
  sees: (ref: string, uid?: string) => boolean,
): string | undefined {
  const { members: all = [], omittedMembers: _omitted, ...rest } = data;
  const members = all.filter(({ ref, uid }) => sees(ref, uid));
  if (members.length === 0) return undefined;
  const failed = members.filter(({ status }) => status === 'error').length;
  const ownState = {
    status: failed > 0 ? 'error' : 'done',
    error: failed > 0 ? `${failed} of ${members.length} failed.` : '',
  };
  const isWhole = members.length === all.length && data['omittedMembers'] === undefined;
  return JSON.stringify({ ...body, data: { ...rest, ...(!isWhole && ownState), members } });
}
