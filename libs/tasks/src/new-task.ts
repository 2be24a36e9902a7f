import type { Caller, Clock, Reservation, Task, TaskKind } from '@headgate/domain-contracts';
import { newTaskId } from './task-id.js';

export interface NewTask {
  readonly kind: TaskKind;
  /** In its ID. */
  readonly name: string;
  /** Its instance or image, as text; empty if it has none. */
  readonly ref: string;
  /** Chosen by the caller, who has journaled it. */
  readonly id?: string;
  readonly reservation?: Reservation;
}

/** A task that begins now. */
export function newTask({ kind, name, ref, id, reservation }: NewTask, caller: Caller, clock: Clock): Task {
  return {
    id: id ?? newTaskId(kind, name, clock.now()),
    kind,
    status: 'running',
    log: '',
    error: '',
    ref,
    caller: caller.login,
    startedAt: clock.iso(),
    finishedAt: null,
    progress: null,
    steps: [],
    ...(reservation && { reserves: reservation.work }),
  };
}
