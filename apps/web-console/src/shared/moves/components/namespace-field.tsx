import { t } from '@lingui/core/macro';
import { useFleet } from '../../fleet/fleet-provider.js';
import { TextField } from '../../creation/components/text-field.js';
import { contextNamed, useCapabilities } from '../../queries/use-capabilities.js';
import { namespaceProblem, type EditedMoveChoices } from '../move-choices.js';

/** The namespace at the destination, if it has more than one. */
export function NamespaceField({ choices, onChange }: EditedMoveChoices) {
  const { data: capabilities } = useCapabilities();
  const context = choices.destination?.context;
  const existing = useFleet(({ entries }) => entries);
  const target = context === undefined ? undefined : contextNamed(capabilities, context);
  if (!target || target.namespaces.isOnlyOne) return null;
  const suggestions = new Set(existing.filter((vm) => vm.context === context).map(({ namespace }) => namespace));
  return (
    <TextField
      id="move-namespace"
      label={t`Namespace`}
      placeholder={target.namespaces.default}
      suggestions={[target.namespaces.default, ...suggestions].filter((one, index, all) => all.indexOf(one) === index)}
      value={choices.namespace}
      problem={namespaceProblem(choices)}
      onChange={(namespace) => onChange({ namespace })}
    />
  );
}
