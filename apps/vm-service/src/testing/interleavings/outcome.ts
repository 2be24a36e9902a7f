import type { Task } from '@headgate/domain-contracts';
import { tagOf, type Action, type Sent } from './story-requests.js';

/** The response to a request; undefined when the process was killed before it responded. */
export type Answer = { readonly status: number; readonly json: Record<string, unknown> } | undefined;

/** A request of a story, its response and its task. */
export interface Outcome extends Sent {
  readonly index: number;
  /** Moments of the story, which only order its requests and responses. */
  sentAt: number;
  answeredAt: number;
  answer: Answer;
  task?: Task | undefined;
}

/** Whether a request was carried out: yes, no, or unknown (undefined), because its process was killed. */
export function isDone({ answer, task, action }: Outcome): boolean | undefined {
  if (answer === undefined) return undefined;
  if (answer.status >= 300) return false;
  // A VM exists as soon as its creation is answered, whatever becomes of the import.
  return action === 'create' || !task || task.status === 'done';
}

/** How often something happened: at least, and at most where the outcome of a request is not known. */
export interface Count {
  readonly least: number;
  readonly most: number;
}

export function countOf(outcomes: readonly Outcome[], isMeant: (one: Outcome) => boolean): Count {
  const done = outcomes.filter(isMeant).map(isDone);
  return { least: done.filter((one) => one === true).length, most: done.filter((one) => one !== false).length };
}

/** Those that may have been the last ones: no other one was acknowledged that was sent after the response to them. */
export const lastOf = (outcomes: readonly Outcome[]): Outcome[] =>
  outcomes.filter(
    (one) =>
      isDone(one) !== false && !outcomes.some((other) => isDone(other) === true && other.sentAt > one.answeredAt),
  );

/** To read a failure. */
export function describeOutcome({
  caller,
  action,
  vm,
  snapshot,
  index,
  sentAt,
  answeredAt,
  answer,
  task,
}: Outcome): string {
  const details: Partial<Record<Action, string>> = { tag: tagOf(index) };
  const subject = `${vm === 0 ? 'a' : 'b'} ${details[action] ?? snapshot}`;
  const response = answer ? `${answer.status} ${String(answer.json['error'] ?? '')}` : 'no response';
  const end = task ? ` (${task.id} ${task.status}${task.error && `: ${task.error}`})` : '';
  return `[${sentAt} to ${answeredAt}] ${caller}: ${action} ${subject} -> ${response}${end}`;
}
