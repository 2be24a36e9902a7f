import type { TaskDefinition } from '@headgate/domain-contracts';
import type { MoveInput } from '../move-input.js';

/** The steps of a move in one mode, and how they are continued or undone after a restart. */
export type MoveStrategy = Required<Pick<TaskDefinition<MoveInput>, 'steps' | 'resume' | 'rollback' | 'result'>>;
