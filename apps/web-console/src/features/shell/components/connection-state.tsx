import { t } from '@lingui/core/macro';
import { useFleet } from '../../../shared/fleet/fleet-provider.js';
import { Dropdown } from '../../../shared/ui/dropdown.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useContexts } from '../../../shared/fleet/use-contexts.js';

/** Whether the list is live and all contexts are reachable, at a glance. A click shows the contexts. */
export function ConnectionState() {
  const phase = useFleet((fleet) => fleet.phase);
  const contexts = useContexts();
  const up = contexts.filter((context) => context.up);
  const tone =
    phase === 'lost' || (contexts.length > 0 && up.length === 0)
      ? 'danger'
      : up.length < contexts.length
        ? 'warning'
        : 'success';
  const [only] = contexts;
  const summary =
    phase === 'lost'
      ? t`Disconnected`
      : contexts.length === 1 && only
        ? only.up
          ? t`${only.context} up`
          : t`${only.context} down`
        : t`${up.length} of ${contexts.length} contexts up`;

  if (contexts.length === 0 && phase !== 'lost') return null;
  return (
    <Dropdown
      className={`hg-connection hg-status--${tone}`}
      isSmall
      popup="dialog"
      panelLabel={t`Contexts`}
      icon={<Icon name={tone === 'success' ? 'dot' : tone === 'warning' ? 'triangle' : 'diamond'} />}
      label={
        <>
          <span>{summary}</span>
          {contexts.some(({ simulated }) => simulated) && <span className="hg-pill">{t`simulated`}</span>}
          {phase === 'polling' && <span className="hg-pill">{t`polling`}</span>}
        </>
      }
    >
      <ul className="hg-contexts">
        {contexts.map(({ context, label, up: isUp, reason, simulated }) => (
          <li key={context}>
            <span className={`hg-status hg-status--${isUp ? 'success' : 'danger'}`}>
              <Icon name={isUp ? 'dot' : 'diamond'} />
              <b translate="no">{context}</b>
            </span>{' '}
            {isUp ? t`${label ?? ''} up` : t`${label ?? ''} down`}
            {simulated && t`, simulated`}
            {reason && <div className="hg-note">{reason}</div>}
          </li>
        ))}
      </ul>
    </Dropdown>
  );
}
