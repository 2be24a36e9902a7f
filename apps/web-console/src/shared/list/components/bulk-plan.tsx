import { t } from '@lingui/core/macro';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { BulkOperation } from '../../actions/bulk-operations.js';
import { curlOf } from '../../actions/api-request.js';
import { bulkOptions, type BulkChoices } from '../../bulk/bulk-options.js';
import type { BulkPlan as ServicePlan } from '../../bulk/bulk-request.js';
import { BulkOrder } from '../../bulk/components/bulk-order.js';
import type { Instance } from '../../instances/instance.js';
import { FolderChoice } from '../../folders/components/folder-choice.js';
import { PanelFrame } from '../../plans/panel-frame.js';
import { StalePlan } from '../../plans/stale-plan.js';
import { readableEstimate } from '../../quantity/duration.js';
import { Alert } from '../../ui/alert.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { Field, helpId } from '../../ui/field.js';
import { TextInput } from '../../ui/inputs.js';
import { Spinner } from '../../ui/loading.js';
import { TypedConfirmation } from '../../ui/typed-confirmation.js';
import { countLabel } from '../list-kind.js';
import type { PlannedMembers } from '../planned-members.js';
import { NameList, nameOf } from './name-list.js';

interface BulkPlanProps<E extends Instance> {
  title: string;
  kind: { readonly counted: (count: number) => string; readonly plural: string };
  operation: BulkOperation<E>;
  planned: PlannedMembers<E>;
  /** The request for the plan of the service. */
  preview: Pick<UseQueryResult<ServicePlan>, 'data' | 'error' | 'isLoading' | 'isPlaceholderData' | 'refetch'>;
  /** Whether the plan is about the present input. */
  isSettled: boolean;
  /** How many instances changed since the plan was created. */
  changed: number;
  text: string;
  choices: BulkChoices;
  error: Error | null;
  onText: (text: string) => void;
  onChoices: (choices: BulkChoices) => void;
  onRehearse: () => void;
  onRun: () => void;
  onClose: () => void;
}

/** What a bulk operation will do, and to which instances. */
export function BulkPlan<E extends Instance>(props: BulkPlanProps<E>) {
  const { title, kind, operation, planned, preview, isSettled, changed, text, choices, error } = props;
  const { onText, onChoices, onRehearse, onRun, onClose } = props;
  const { included, refused, unchanged, steps, warnings, unplanned } = planned;
  const { label, isDanger = false, warning, confirmByTyping, input, submit } = operation;
  const [confirmation, setConfirmation] = useState('');
  const problem = text === '' ? undefined : input?.problem(text);
  const isReady =
    included.length > 0 &&
    isSettled &&
    changed === 0 &&
    !preview.isLoading &&
    !preview.isPlaceholderData &&
    !preview.error &&
    (!confirmByTyping || confirmation === String(included.length));
  const count = countLabel(kind, included.length);
  const body = { ...operation.request(text), ...bulkOptions(choices), refs: included.map(({ ref }) => ref) };

  return (
    <PanelFrame
      title={title}
      description={t`Nothing has happened yet.`}
      isDanger={isDanger}
      onClose={onClose}
      onSubmit={() => isReady && onRun()}
      footer={
        <>
          <Button variant={isDanger ? 'danger' : 'primary'} type="submit" isDisabled={!isReady}>
            {submit?.(count) ?? t`${label} ${count}`}
          </Button>
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
          {isSettled && included.length > 0 && (
            <CopyButton
              isSmall
              text={curlOf({ method: 'POST', path: '/api/ext/bulk', body }, location.origin)}
              label={t`Copy as curl`}
            />
          )}
        </>
      }
    >
      {error && <ErrorAlert title={t`The operation was not started`} error={error} />}
      {changed > 0 && (
        <StalePlan
          title={t`${countLabel(kind, changed)} changed since this plan was created`}
          isLoading={preview.isLoading}
          onRehearse={onRehearse}
        />
      )}
      {warning && included.length > 0 && <Alert variant="warning" title={warning} />}
      {input?.type === 'folder' && <FolderChoice label={input.label} value={text} onChange={onText} />}
      {input?.type === 'text' && (
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
      {preview.isLoading && <Spinner label={t`Loading the preview`} />}
      {preview.error && (
        <ErrorAlert title={t`Preview unavailable`} error={preview.error} onRetry={() => void preview.refetch()} />
      )}
      <NameList
        kind={kind}
        title={t`Applies to`}
        notes="service"
        names={included.map((entry) => [nameOf(entry), steps.get(entry.ref)].filter(Boolean).join(': '))}
      />
      <NameList
        kind={kind}
        title={t`Skipped`}
        names={refused.map(({ entry, reason }) => `${nameOf(entry)}: ${reason}`)}
      />
      <NameList
        kind={kind}
        title={t`Warnings`}
        notes="service"
        names={warnings.map((one) => `${nameOf(one.entry)}: ${one.warning}`)}
      />
      <NameList kind={kind} title={t`Nothing changes for`} names={unchanged.map(nameOf)} />
      {preview.data?.seconds && included.length > 0 && (
        <p className="hg-note">{t`Takes ${readableEstimate(preview.data.seconds)}.`}</p>
      )}
      {unplanned > 0 && (
        <p className="hg-note">
          {t`${countLabel(kind, unplanned)} could not be checked in time. The service checks them when their turn comes.`}
        </p>
      )}
      {included.length > 1 && (
        <BulkOrder action={operation.request(text).action} choices={choices} onChange={onChoices} />
      )}
      {confirmByTyping && included.length > 0 && !preview.isLoading && (
        <TypedConfirmation
          text={String(included.length)}
          reason={confirmByTyping}
          value={confirmation}
          onChange={setConfirmation}
        />
      )}
    </PanelFrame>
  );
}
