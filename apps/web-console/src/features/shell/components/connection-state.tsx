import { Popover } from '@patternfly/react-core';
import { useFleet } from '../../../shared/fleet/fleet-provider.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useContexts } from '../use-contexts.js';

/** One glance: is what I see live, and are all contexts there. The details unfold. */
export function ConnectionState() {
  const phase = useFleet((fleet) => fleet.phase);
  const contexts = useContexts();
  const up = contexts.filter((context) => context.up);
  const simulated = contexts.some((context) => context.simulated);
  const tone =
    phase === 'lost' || (contexts.length > 0 && up.length === 0)
      ? 'bad'
      : up.length < contexts.length
        ? 'held'
        : 'good';
  const [only] = contexts;
  const summary =
    phase === 'lost'
      ? 'Not connected'
      : contexts.length === 1 && only
        ? `${only.context} ${only.up ? 'up' : 'down'}`
        : `${up.length} of ${contexts.length} contexts up`;

  if (contexts.length === 0 && phase !== 'lost') return null;
  return (
    <Popover
      aria-label="Contexts"
      headerContent="Contexts"
      bodyContent={
        <ul className="hg-contexts">
          {contexts.map(({ context, backend, up: isUp, reason, simulated: pretends }) => (
            <li key={context}>
              <span className={`hg-status hg-status--${isUp ? 'good' : 'bad'}`}>
                <Icon name={isUp ? 'check' : 'error'} />
                <b>{context}</b>
              </span>{' '}
              {backend} {isUp ? 'up' : 'down'}
              {pretends && ', simulated'}
              {reason && <div className="hg-note">{reason}</div>}
            </li>
          ))}
        </ul>
      }
    >
      <button type="button" className={`hg-connection hg-status--${tone}`}>
        <Icon name={tone === 'good' ? 'check' : tone === 'held' ? 'alert' : 'error'} />
        {summary}
        {simulated && <span className="hg-pill">simulated</span>}
        {phase === 'polling' && <span className="hg-pill">polled</span>}
      </button>
    </Popover>
  );
}
