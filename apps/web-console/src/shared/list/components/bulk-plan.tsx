import { useState } from 'react';
import type { Instance } from '../../instances/instance.js';
import { Alert } from '../../ui/alert.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { Field, helpId } from '../../ui/field.js';
import { TextInput } from '../../ui/inputs.js';
import { TypedConfirmation } from '../../ui/typed-confirmation.js';
import { countLabel, type BulkOperation, type ListKind } from '../list-kind.js';
import { NameList, nameOf } from './name-list.js';

interface BulkPlanProps<E extends Instance> {
  title: string;
  kind: ListKind<E>;
  operation: BulkOperation<E>;
  included: readonly E[];
  refused: readonly { readonly entry: E; readonly reason: string }[];
  text: string;
  error: Error | null;
  onText: (text: string) => void;
  onRun: () => void;
  onClose: () => void;
}

/** What a bulk operation will do, and to which instances. */
export function BulkPlan<E extends Instance>(props: BulkPlanProps<E>) {
  const { title, kind, operation, included, refused, text, error, onText, onRun, onClose } = props;
  const { label, isDanger = false, warning, confirmByTyping, input, preposition } = operation;
  const [confirmation, setConfirmation] = useState('');
  const problem = text === '' ? undefined : input?.problem(text);
  const isReady =
    included.length > 0 &&
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
      <NameList kind={kind} title="Applies to" names={included.map(nameOf)} />
      <NameList kind={kind} title="Skipped" names={refused.map(({ entry, reason }) => `${nameOf(entry)}: ${reason}`)} />
      {confirmByTyping && included.length > 0 && (
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
