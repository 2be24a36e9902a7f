import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { Instance } from '../../instances/instance.js';
import { Alert } from '../../ui/alert.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { Field, helpId } from '../../ui/field.js';
import { TextInput } from '../../ui/inputs.js';
import { Spinner } from '../../ui/loading.js';
import { TypedConfirmation } from '../../ui/typed-confirmation.js';
import { countLabel, type BulkOperation, type ListKind } from '../list-kind.js';
import type { PlannedMembers } from '../planned-members.js';
import { NameList, nameOf } from './name-list.js';

interface BulkPlanProps<E extends Instance> {
  title: string;
  kind: ListKind<E>;
  operation: BulkOperation<E>;
  planned: PlannedMembers<E>;
  /** The request for the plan of the service. */
  preview: Pick<UseQueryResult, 'error' | 'isLoading' | 'refetch'>;
  text: string;
  error: Error | null;
  onText: (text: string) => void;
  onRun: () => void;
  onClose: () => void;
}

/** What a bulk operation will do, and to which instances. */
export function BulkPlan<E extends Instance>(props: BulkPlanProps<E>) {
  const { title, kind, operation, planned, preview, text, error, onText, onRun, onClose } = props;
  const { included, refused, steps, warnings, unplanned } = planned;
  const { label, isDanger = false, warning, confirmByTyping, input, preposition } = operation;
  const [confirmation, setConfirmation] = useState('');
  const problem = text === '' ? undefined : input?.problem(text);
  const isReady =
    included.length > 0 &&
    !preview.isLoading &&
    !preview.error &&
    (!confirmByTyping || confirmation === String(included.length)) &&
    (!input || (text !== '' && problem === undefined));

  return (
    <Dialog
      title={title}
      isDanger={isDanger}
      onClose={onClose}
      onSubmit={() => isReady && onRun()}
      footer={
        <>
          <Button variant={isDanger ? 'danger' : 'primary'} type="submit" isDisabled={!isReady}>
            {[label, preposition, countLabel(kind, included.length)].filter(Boolean).join(' ')}
          </Button>
          <Button variant="link" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      {error && <ErrorAlert title="The operation was not started" error={error} />}
      {preview.isLoading && <Spinner label="Loading the preview" />}
      {preview.error && (
        <ErrorAlert title="Preview unavailable" error={preview.error} onRetry={() => void preview.refetch()} />
      )}
      {warning && included.length > 0 && <Alert variant="warning" title={warning} className="hg-gap-below" />}
      {input && (
        <Field label={input.label} id="bulk-text" problem={problem}>
          <TextInput
            id="bulk-text"
            value={text}
            autoComplete="off"
            isInvalid={problem !== undefined}
            aria-describedby={helpId('bulk-text')}
            onChange={onText}
          />
        </Field>
      )}
      <NameList
        kind={kind}
        title="Applies to"
        names={included.map((entry) => [nameOf(entry), steps.get(entry.ref)].filter(Boolean).join(': '))}
      />
      <NameList kind={kind} title="Skipped" names={refused.map(({ entry, reason }) => `${nameOf(entry)}: ${reason}`)} />
      <NameList kind={kind} title="Warnings" names={warnings.map((one) => `${nameOf(one.entry)}: ${one.warning}`)} />
      {unplanned > 0 && (
        <p className="hg-note">
          {countLabel(kind, unplanned)} could not be checked in time. The service checks them when their turn comes.
        </p>
      )}
      {confirmByTyping && included.length > 0 && !preview.isLoading && (
        <TypedConfirmation
          text={String(included.length)}
          reason={confirmByTyping}
          value={confirmation}
          onChange={setConfirmation}
        />
      )}
    </Dialog>
  );
}
