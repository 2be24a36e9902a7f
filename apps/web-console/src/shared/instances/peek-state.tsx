import { useProgresses } from '../tasks/use-progress.js';
import { statusCode } from '../ui/status-tone.js';
import { BusyLink } from './busy-link.js';
import { statusOf, type Instance } from './instance.js';
import { InstanceStatus } from './instance-status.js';
import { ServiceText } from '../ui/service-text.js';

/** The reason of the state if there is one, the state and the place of an instance. */
export function PeekState({ instance }: { instance: Instance }) {
  const { reason, context, namespace, node, ref } = instance;
  const progress = useProgresses()[ref];
  const code = statusCode(statusOf(instance));
  return (
    <div className="hg-peek-state">
      {reason && (
        <p className="hg-status--warning">
          <ServiceText>{reason}</ServiceText>{' '}
          {code !== undefined && (
            <small className="hg-api-code" translate="no">
              {code}
            </small>
          )}
        </p>
      )}
      <p>
        <InstanceStatus instance={instance} progress={progress} /> <BusyLink instance={instance} />
        <span className="hg-note" translate="no">
          {[context, namespace, node].filter(Boolean).map((part) => ` · ${part}`)}
        </span>
      </p>
    </div>
  );
}
