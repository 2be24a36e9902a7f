import { randomBytes } from 'node:crypto';
import type { TaskKind } from '@headgate/domain-contracts';

/** `<kind>-<name>-<id>`. The last part sorts by time: nine base-36 digits hold milliseconds until the year 5188. */
export const newTaskId = (kind: TaskKind, name: string, now: number): string =>
  `${kind}-${name}-${now.toString(36).padStart(9, '0')}${randomBytes(3).toString('hex')}`;
