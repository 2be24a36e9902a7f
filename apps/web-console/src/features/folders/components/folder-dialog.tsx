import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { folderName, folderNameProblem, nameOfFolder, placeProblem } from '../../../shared/names/folder-name-rule.js';
import { Button } from '../../../shared/ui/button.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { draftOf, targetOf, type FolderChange } from '../folder-change.js';
import { FolderField } from '../../../shared/folders/components/folder-field.js';
import { FolderPlan } from './folder-plan.js';

interface FolderDialogProps {
  change: FolderChange;
  /** The paths of all folders. */
  known: readonly string[];
  onClose: () => void;
  /** @param to the path of the folder afterwards */
  onDone: (to: string) => void;
}

/**
 * A change of a folder: its form and then its plan. From the plan the user returns to the form, with everything that
 * they have entered. A deletion, and a move by dragging, have no form.
 */
export function FolderDialog({ change, known, onClose, onDone }: FolderDialogProps) {
  const hasForm = change.type !== 'remove' && !(change.type === 'move' && change.parent !== undefined);
  const [draft, setDraft] = useState(() => draftOf(change));
  const [isPlanned, setIsPlanned] = useState(!hasForm);
  const to = targetOf({ ...draft, name: folderName(draft.name) });
  if (isPlanned)
    return (
      <FolderPlan
        change={change}
        to={to}
        onClose={hasForm ? () => setIsPlanned(false) : onClose}
        onDone={() => onDone(to)}
      />
    );
  const from = change.type === 'create' ? undefined : change.path;
  const nameProblem = draft.name === '' ? undefined : folderNameProblem(folderName(draft.name));
  const problem = placeProblem(to, known, from);
  const isReady = draft.name !== '' && nameProblem === undefined && problem === undefined && to !== from;
  const hasName = change.type !== 'move';
  return (
    <Dialog
      title={TITLES[change.type](from ?? '')}
      {...(change.type === 'create' ? {} : { description: t`Its machines and subfolders move with it.` })}
      onClose={onClose}
      onSubmit={() => isReady && setIsPlanned(true)}
      footer={
        <>
          <Button type="submit" isDisabled={!isReady}>
            {t`Show the plan`}
          </Button>
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
        </>
      }
    >
      {hasName && (
        <Field
          label={t`Name`}
          id="folder-name"
          required
          problem={nameProblem ?? (draft.name === '' ? undefined : problem)}
        >
          <TextInput
            id="folder-name"
            value={draft.name}
            autoComplete="off"
            spellCheck={false}
            isInvalid={nameProblem !== undefined}
            aria-describedby={helpId('folder-name')}
            onChange={(name) => setDraft({ ...draft, name })}
          />
        </Field>
      )}
      {change.type !== 'rename' && (
        <FolderField
          label={t`In the folder`}
          none={t`None: at the top level`}
          folders={known}
          value={draft.parent}
          problem={hasName ? undefined : problem}
          onChange={(parent) => setDraft({ ...draft, parent })}
        />
      )}
    </Dialog>
  );
}

const TITLES = {
  create: () => t`New folder`,
  rename: (path) => t`Rename ${nameOfFolder(path)}`,
  move: (path) => t`Move ${nameOfFolder(path)}`,
  remove: (path) => t`Delete ${nameOfFolder(path)}`,
} as const satisfies Readonly<Record<FolderChange['type'], (path: string) => string>>;
