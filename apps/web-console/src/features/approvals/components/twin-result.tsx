import { t } from '@lingui/core/macro';
import type { TwinInstanceView, TwinStateView, TwinView } from '@headgate/api-contracts';
import { Alert } from '../../../shared/ui/alert.js';
import { Data } from '../../../shared/ui/data.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';

/** More instances and steps would not be read. */
const MAX_INSTANCES = 20;
const MAX_STEPS = 12;

/** What a simulation of the cluster has made of a change. Nothing of it is real. */
export function TwinResult({ twin }: { twin: TwinView }) {
  const { readAt, simulatedSeconds, settled, instances, others, differences, notes } = twin;
  const hidden = instances.length - MAX_INSTANCES;
  return (
    <section aria-label={t`Simulation`}>
      <h3>{t`Simulation`}</h3>
      <p className="hg-note">
        {t`Carried out in a simulation of the cluster, not in the cluster.`} {t`Objects read`} <Timestamp at={readAt} />{' '}
        · {t`${simulatedSeconds} simulated seconds`}
      </p>
      {!settled && <Alert isPlain variant="warning" title={t`The simulation ended before everything came to rest`} />}
      {differences.map((difference) => (
        <Alert key={difference} isPlain variant="warning" title={difference} />
      ))}
      <ul>
        {instances.slice(0, MAX_INSTANCES).map((instance) => (
          <TwinInstance key={instance.ref} instance={instance} />
        ))}
      </ul>
      {hidden > 0 && <p className="hg-note">{t`${hidden} more instances are not shown.`}</p>}
      {others.length > 0 && (
        <>
          <h4>{t`Also changed`}</h4>
          <ul>
            {others.map((instance) => (
              <TwinInstance key={instance.ref} instance={instance} />
            ))}
          </ul>
        </>
      )}
      <details>
        <summary>{t`Limits of the simulation`}</summary>
        <ul>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function TwinInstance({ instance: { ref, before, after, steps, difference } }: { instance: TwinInstanceView }) {
  return (
    <li>
      <Data>{ref}</Data>: {before ? <TwinState state={before} /> : t`did not exist`} →{' '}
      {after ? <TwinState state={after} /> : t`deleted`}
      {difference !== undefined && <Alert isPlain variant="warning" title={difference} />}
      {steps.length > 0 && (
        <ol className="hg-note">
          {steps.slice(0, MAX_STEPS).map(({ seconds, name, detail }, index) => (
            <li key={index}>
              {t`${seconds} s`} <Data>{[name, detail].filter(Boolean).join(': ')}</Data>
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}

const TwinState = ({ state: { status, node, cpu, mem } }: { state: TwinStateView }) => (
  <Data>{[status, node, `${cpu} CPU`, mem].filter(Boolean).join(', ')}</Data>
);
