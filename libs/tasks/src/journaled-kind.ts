import type { Author } from '@headgate/domain-contracts';
import type { LiveJournal } from './live-journal.js';
import type { RunningTask } from './running-task.js';

/** `suspended`: the service shuts down, and the task continues after its next start. */
export type RunOutcome = 'ended' | 'suspended';

/** The work of a task whose journal shows how far it has come. */
export interface JournaledRun {
  /** @param isRecovered whether an earlier process began the task */
  run(isRecovered: boolean): Promise<RunOutcome>;
  /** @throws DomainError WRONG_STATE when the task can't be canceled now */
  cancel(caller: Author): Promise<void>;
  /** Absent if it can't be paused. @throws DomainError WRONG_STATE */
  pause?(isPaused: boolean): Promise<void>;
}

/** How the tasks of a kind are carried out. */
export interface JournaledKind {
  /** Of their journals. Tasks with another version do not continue after a restart. */
  readonly version: number;
  /** @throws when the journal asks for work that there is not */
  open(task: RunningTask, journal: LiveJournal): JournaledRun;
}
