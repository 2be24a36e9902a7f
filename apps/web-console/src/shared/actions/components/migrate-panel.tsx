import { t } from '@lingui/core/macro';
import type { AcceptedView, NodeView, PlanView, VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { messageOf } from '../../api/api-error.js';
import { useCurrentInstance } from '../../fleet/use-current-instance.js';
import { PlanPanel } from '../../plans/plan-panel.js';
import { contextNamed, useCapabilities } from '../../queries/use-capabilities.js';
import { useNodes } from '../../queries/use-nodes.js';
import { Field, helpId } from '../../ui/field.js';
import { SelectInput } from '../../ui/inputs.js';
import { curlOf, instanceRequest, sendRequest } from '../api-request.js';
import { planState } from '../registry.js';
import { doneSentence } from '../run-action.js';
import { vmActions } from '../vm-actions.js';

interface MigratePanelProps {
  vm: VmView;
  /** The node that is chosen at first; otherwise the scheduler chooses. */
  target?: string | undefined;
  onClose: () => void;
}

/** The plan of a migration to another node, which the user or the scheduler chooses. */
export function MigratePanel({ vm, target = '', onClose }: MigratePanelProps) {
  const [targetNode, setTargetNode] = useState(target);
  const { data: nodes = [], error: nodesError } = useNodes();
  const targets = useTargets(vm, nodes);
  const current = useCurrentInstance(vm);
  const request = instanceRequest('vms', vm, 'migrate', { body: targetNode === '' ? {} : { targetNode } });
  return (
    <PlanPanel
      title={t`Migrate ${vm.name}`}
      label={t`Migrate ${vm.name}`}
      failure={t`Couldn't migrate ${vm.name}`}
      preview={(signal) => sendRequest<PlanView>(request, { dryRun: true, signal })}
      run={() => sendRequest<AcceptedView>(request)}
      choice={targetNode}
      subject={{ name: vm.name, state: current ? planState(current) : 'deleted' }}
      curl={curlOf(request, location.origin)}
      options={
        <>
          <p className="hg-note">{t`From ${vm.node ?? t`an unknown node`}. The VM keeps running during the migration.`}</p>
          <Field
            label={t`Target node`}
            id="target-node"
            problem={nodesError ? messageOf(nodesError) : undefined}
            hint={t`Nodes with another CPU vendor, or without the networks of the VM, are refused.`}
          >
            <SelectInput
              id="target-node"
              value={targetNode}
              aria-describedby={helpId('target-node')}
              onChange={setTargetNode}
            >
              <option value="">{t`Any (chosen automatically)`}</option>
              {targets.map(({ value, label, ready }) => (
                <option key={value} value={value} disabled={!ready} translate={ready ? 'no' : undefined}>
                  {ready ? label : t`${label} (not ready)`}
                </option>
              ))}
            </SelectInput>
          </Field>
        </>
      }
      onClose={onClose}
      onDone={() => undefined}
      outcome={({ task }) => ({ title: doneSentence(vm, vmActions().migrate), task })}
    />
  );
}

interface Target {
  readonly value: string;
  readonly label: string;
  readonly ready: boolean;
}

/** The other nodes of the cluster, or the other contexts of the kind where a context is a single host. */
function useTargets(vm: VmView, nodes: readonly NodeView[]): Target[] {
  const { data: capabilities } = useCapabilities();
  const own = contextNamed(capabilities, vm.context);
  if (own?.isSingleHost !== true) {
    return nodes
      .filter(({ context, name }) => context === vm.context && name !== vm.node)
      .map(({ name, ready }) => ({ value: name, label: name, ready }));
  }
  return nodes
    .filter(({ context }) => context !== vm.context && contextNamed(capabilities, context)?.backend === own.backend)
    .map(({ context, name, ready }) => ({ value: context, label: `${context} (${name})`, ready }));
}
