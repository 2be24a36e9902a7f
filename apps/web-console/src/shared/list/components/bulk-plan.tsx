import { Alert, Button, ModalBody, ModalFooter, TextInput } from '@patternfly/react-core';
import { useState } from 'react';
import type { Instance } from '../../instances/instance.js';
import { describedBy, Field } from '../../ui/field.js';
import { TypedConfirmation } from '../../ui/typed-confirmation.js';
import { countOf, type BulkOperation, type ListKind } from '../list-kind.js';
import { NameList, nameOf } from './name-list.js';

interface BulkPlanProps<E extends Instance> {
  kind: ListKind<E>;
  operation: BulkOperation<E>;
  able: readonly E[];
  refused: readonly { readonly entry: E; readonly reason: string }[];
  text: string;
  onText: (text: string) => void;
  isRunning: boolean;
  onRun: () => void;
  onStop: () => void;
  onClose: () => void;
}

/** What an operation would do, and to whom; while it runs, how to stop it. */
export function BulkPlan<E extends Instance>(props: BulkPlanProps<E>) {
  const { kind, operation, able, refused, text, onText, isRunning, onRun, onStop, onClose } = props;
  const { label, isDanger, warning, typed, asks } = operation;
  const [confirmation, setConfirmation] = useState('');
  const problem = text === '' ? undefined : asks?.problem(text);
  const ready =
    able.length > 0 &&
    (!typed || confirmation === String(able.length)) &&
    (!asks || (text !== '' && problem === undefined));

  return (
    <>
      {!isRunning && (
        <ModalBody>
          {warning && able.length > 0 && <Alert isInline variant="warning" title={warning} className="hg-gap-below" />}
          {asks && (
            <Field label={asks.label} id="bulk-text" problem={problem}>
              <TextInput
                id="bulk-text"
                value={text}
                autoComplete="off"
                validated={problem ? 'error' : 'default'}
                aria-describedby={describedBy('bulk-text')}
                onChange={(_event, value) => onText(value)}
              />
            </Field>
          )}
          <NameList kind={kind} title="Will be done for" names={able.map(nameOf)} />
          <NameList
            kind={kind}
            title="Left alone"
            names={refused.map(({ entry, reason }) => `${nameOf(entry)}: ${reason}`)}
          />
          {typed && able.length > 0 && (
            <TypedConfirmation
              text={String(able.length)}
              reason="This can't be undone."
              value={confirmation}
              onChange={setConfirmation}
            />
          )}
        </ModalBody>
      )}
      <ModalFooter>
        {isRunning ? (
          <Button variant="secondary" onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button variant={isDanger ? 'danger' : 'primary'} isDisabled={!ready} onClick={onRun}>
            {label}: {countOf(kind, able.length)}
          </Button>
        )}
        <Button variant="link" onClick={onClose}>
          {isRunning ? 'Go on in the background' : 'Cancel'}
        </Button>
      </ModalFooter>
    </>
  );
}
