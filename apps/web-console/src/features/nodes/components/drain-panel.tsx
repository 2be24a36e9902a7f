import { t } from '@lingui/core/macro';
import type { DrainAcceptedView, DrainPlanView, NodeDetailsView } from '@headgate/api-contracts';
import { Data } from '../../../shared/ui/data.js';
import { useState } from 'react';
import { curlOf, sendRequest } from '../../../shared/actions/api-request.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { SelectInput, Switch } from '../../../shared/ui/inputs.js';
import { drainBody, USUAL_DRAIN, type DrainChoices } from '../drain-choices.js';
import { nodeRequest } from '../node-requests.js';
import { DrainMembers } from './drain-members.js';

const paces = perLanguage((): Readonly<Record<string, string>> => ({
  '1': t`One at a time`,
  '2': t`Two`,
  '4': t`Four`,
  '8': t`Eight`,
}));

interface DrainPanelProps {
  node: NodeDetailsView;
  onClose: () => void;
  onDone: () => void;
}

/** The plan of a drain: what happens to each instance of the node, and its order. */
export function DrainPanel({ node, onClose, onDone }: DrainPanelProps) {
  const [choices, setChoices] = useState(USUAL_DRAIN);
  const change = (part: Partial<DrainChoices>): void => setChoices({ ...choices, ...part });
  const { name, context } = node;
  const request = nodeRequest(node, 'drain', drainBody(choices));
  return (
    <PlanPanel<DrainAcceptedView, DrainPlanView>
      title={t`Drain ${name}`}
      label={t`Drain ${name}`}
      failure={t`Couldn't drain ${name}`}
      place={<Data>{context}</Data>}
      preview={(signal) => sendRequest<DrainPlanView>(request, { dryRun: true, signal })}
      run={() => sendRequest<DrainAcceptedView>(request)}
      choice={JSON.stringify(drainBody(choices))}
      curl={curlOf(request, location.origin)}
      options={
        <fieldset className="hg-options-group" aria-label={t`Order`}>
          <Field label={t`At the same time`} id="drain-at-once">
            <SelectInput
              id="drain-at-once"
              value={choices.atOnce}
              aria-describedby={helpId('drain-at-once')}
              onChange={(atOnce) => change({ atOnce })}
            >
              {Object.entries(paces()).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </SelectInput>
          </Field>
          <Switch
            id="drain-stop-on-error"
            label={t`Stop after the first failure`}
            isChecked={choices.stopOnError}
            onChange={(stopOnError) => change({ stopOnError })}
          />
          <Switch
            id="drain-skip-refused"
            label={t`Leave instances that are refused on the node`}
            isChecked={choices.skipRefused}
            onChange={(skipRefused) => change({ skipRefused })}
          />
        </fieldset>
      }
      details={(plan) => <DrainMembers plan={plan} />}
      onClose={onClose}
      onDone={onDone}
      outcome={({ task }) => ({
        title: task === undefined ? t`${name} is cordoned, and no instance had to move` : t`${name} is being drained`,
        task,
      })}
    />
  );
}
