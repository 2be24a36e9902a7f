import { t } from '@lingui/core/macro';
import type { Instance } from '../../instances/instance.js';
import { Icon } from '../../ui/icon.js';
import { ReasonedButton } from '../../ui/reasoned-button.js';
import { actionOf } from '../registry.js';
import { useActionRefusal } from '../use-action-refusal.js';
import { useActions } from '../use-actions.js';

/** Starts an instance from a place where the user expects it to run. */
export function StartButton({ instance }: { instance: Instance }) {
  const refusal = useActionRefusal();
  const { run, running } = useActions();
  return (
    <ReasonedButton
      icon={<Icon name={actionOf(instance, 'start').icon} />}
      reason={refusal('start', instance)}
      isLoading={running?.id === 'start' && running.instance.ref === instance.ref}
      onClick={() => run({ id: 'start', instance })}
    >
      {t`Start ${instance.name}`}
    </ReasonedButton>
  );
}
