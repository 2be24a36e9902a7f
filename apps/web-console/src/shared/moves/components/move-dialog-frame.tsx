import { t } from '@lingui/core/macro';
import type { MoveConcernView } from '@headgate/api-contracts';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { Switch } from '../../ui/inputs.js';
import { Spinner } from '../../ui/loading.js';
import type { EditedMoveChoices } from '../move-choices.js';
import { DestinationField } from './destination-field.js';
import type { MovedKind } from '../move-requests.js';
import { NamespaceField } from './namespace-field.js';
import { TpmLossSwitch } from './tpm-loss-switch.js';

interface MoveDialogFrameProps<Plan> extends EditedMoveChoices {
  /** VMs by default. */
  kind?: MovedKind;
  labels: {
    title: string;
    description: string;
    submit: string;
    deleteSource: string;
    /** The title of an error. */
    failure: string;
  };
  /** Below the destination. */
  options: ReactNode;
  plan: { data: Plan | undefined; error: unknown; isLoading: boolean; refetch: () => unknown };
  renderPlan: (plan: Plan) => ReactNode;
  /** Below the plan. */
  concessions?: ReactNode;
  isReady: boolean;
  start: { isPending: boolean; error: unknown };
  onSubmit: () => void;
  onClose: () => void;
}

/** The parts that the dialogs for one VM and for several have in common. */
export function MoveDialogFrame<Plan extends { readonly refusals: readonly Pick<MoveConcernView, 'code'>[] }>(
  props: MoveDialogFrameProps<Plan>,
) {
  const {
    kind = 'vm',
    labels,
    choices,
    onChange,
    options,
    plan,
    renderPlan,
    concessions,
    isReady,
    start,
    onSubmit,
    onClose,
  } = props;
  return (
    <Dialog
      title={labels.title}
      description={labels.description}
      onClose={onClose}
      onSubmit={() => isReady && onSubmit()}
      footer={
        <>
          <Button type="submit" isLoading={start.isPending} isDisabled={!isReady}>
            {labels.submit}
          </Button>
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
        </>
      }
    >
      <DestinationField
        kind={kind}
        value={choices.destination?.context ?? ''}
        onChange={(_context, destination) => onChange({ destination, namespace: '' })}
      />
      <NamespaceField choices={choices} onChange={onChange} />
      {options}
      <Switch
        id="move-delete-source"
        label={labels.deleteSource}
        isChecked={choices.deleteSource}
        onChange={(deleteSource) => onChange({ deleteSource })}
      />
      {plan.isLoading && <Spinner label={t`Loading the preview`} />}
      {Boolean(plan.error) && (
        <ErrorAlert title={t`Preview unavailable`} error={plan.error} onRetry={() => void plan.refetch()} />
      )}
      {plan.data && renderPlan(plan.data)}
      <TpmLossSwitch
        refusals={plan.data?.refusals}
        isAccepted={choices.losesTpm}
        onChange={(losesTpm) => onChange({ losesTpm })}
      />
      {concessions}
      {Boolean(start.error) && <ErrorAlert title={labels.failure} error={start.error} />}
    </Dialog>
  );
}
