import { t } from '@lingui/core/macro';
import type { Instance } from '../../instances/instance.js';
import { Menu } from '../../ui/dropdown.js';
import { Icon } from '../../ui/icon.js';
import { ReasonedButton } from '../../ui/reasoned-button.js';
import { menuItems } from '../menu-items.js';
import { likelyAction } from '../registry.js';
import { useActionRefusal } from '../use-action-refusal.js';
import { useActions } from '../use-actions.js';

/** The most likely power action of an instance, with all others in its menu. */
export function SplitPower({ instance }: { instance: Instance }) {
  const refusal = useActionRefusal();
  const { run, running } = useActions();
  const { id, label, icon } = likelyAction(instance);
  const { name } = instance;
  return (
    <span className="hg-split" role="toolbar" aria-label={t`Actions for ${instance.name}`}>
      <ReasonedButton
        isSmall
        variant={id === 'start' && refusal(id, instance) === undefined ? 'primary' : 'secondary'}
        icon={<Icon name={icon} />}
        reason={refusal(id, instance)}
        isLoading={running?.instance.ref === instance.ref}
        onClick={() => run({ id, instance })}
      >
        {label}
      </ReasonedButton>
      <Menu
        label={<span className="hg-hidden">{t`More actions`}</span>}
        name={t`More actions for ${name}`}
        isSmall
        items={menuItems(instance, { run, refusal, without: id })}
      />
    </span>
  );
}
