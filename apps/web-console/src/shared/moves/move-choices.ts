import { useMutation } from '@tanstack/react-query';
import type { DestinationView, MoveDto } from '@headgate/api-contracts';
import { useDeferredValue, useState } from 'react';
import { nameProblem } from '../names/name-rule.js';
import { useTrackTask } from '../tasks/track-task.js';
import { useNotify } from '../ui/notifications.js';

export interface MoveChoices {
  readonly destination: DestinationView | undefined;
  /** Empty: that of the destination. */
  readonly namespace: string;
  readonly deleteSource: boolean;
  /** Whether the keys in a TPM may be lost. */
  readonly losesTpm: boolean;
}

export interface EditedMoveChoices {
  readonly choices: MoveChoices;
  readonly onChange: (changed: Partial<MoveChoices>) => void;
}

const NO_CHOICES: MoveChoices = { destination: undefined, namespace: '', deleteSource: false, losesTpm: false };

/** What the user chooses for one VM and for several. */
export function useMoveChoices() {
  const [choices, setChoices] = useState<MoveChoices>(NO_CHOICES);
  // The plan is read when the user pauses, not for each letter.
  const settled = useDeferredValue(choices);
  return {
    choices,
    onChange: (changed: Partial<MoveChoices>) => setChoices((before) => ({ ...before, ...changed })),
    /** Their part of a request; undefined while they are incomplete or wrong. */
    chosen: requestOf(settled),
    /** Whether it is about the present choices. */
    isSettled: settled === choices,
  };
}

/** The problem with the namespace at the destination, as a sentence. */
export const namespaceProblem = ({ namespace }: MoveChoices): string | undefined =>
  namespace === '' ? undefined : nameProblem(namespace);

function requestOf(choices: MoveChoices) {
  const { destination, namespace, deleteSource, losesTpm } = choices;
  if (!destination || namespaceProblem(choices) !== undefined) return undefined;
  return {
    toBackend: destination.backend,
    toContext: destination.context,
    ...(namespace !== '' && { toNamespace: namespace }),
    deleteSource,
    ...(losesTpm && { acceptLoss: ['tpm' as const] }),
  };
}

interface StartMoveOptions {
  send: (body: MoveDto) => Promise<{ task: string }>;
  /** Of the notification when the task has begun. */
  title: string;
  body: string;
  onStarted: () => void;
}

/** Sends the request and follows its task. */
export function useStartMove({ send, title, body, onStarted }: StartMoveOptions) {
  const trackTask = useTrackTask();
  const notify = useNotify();
  return useMutation({
    mutationFn: send,
    onSuccess: ({ task }) => {
      trackTask(task);
      notify({ variant: 'success', title, body });
      onStarted();
    },
  });
}
