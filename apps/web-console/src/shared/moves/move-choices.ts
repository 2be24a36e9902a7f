import { useMutation } from '@tanstack/react-query';
import type { DestinationView, MoveDto } from '@headgate/api-contracts';
import { useState } from 'react';
import { useTrackTask } from '../tasks/track-task.js';
import { useNotify } from '../ui/notifications.js';

export interface MoveChoices {
  readonly destination: DestinationView | undefined;
  readonly deleteSource: boolean;
  /** Whether the keys in a TPM may be lost. */
  readonly losesTpm: boolean;
}

export interface EditedMoveChoices {
  readonly choices: MoveChoices;
  readonly onChange: (changed: Partial<MoveChoices>) => void;
}

const NO_CHOICES: MoveChoices = { destination: undefined, deleteSource: false, losesTpm: false };

/** What the user chooses for one VM and for several. */
export function useMoveChoices(): EditedMoveChoices {
  const [choices, setChoices] = useState<MoveChoices>(NO_CHOICES);
  return { choices, onChange: (changed) => setChoices((before) => ({ ...before, ...changed })) };
}

/** Their part of a request; undefined before a destination was chosen. */
export const requestOf = ({ destination, deleteSource, losesTpm }: MoveChoices) =>
  destination && {
    toBackend: destination.backend,
    toContext: destination.context,
    deleteSource,
    ...(losesTpm && { acceptLoss: ['tpm' as const] }),
  };

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
