import { useParams } from 'wouter';
import { SerialConsole } from '../features/consoles/components/serial-console.js';
import { ContainerPage } from '../features/containers/components/container-page.js';
import { consoleUrl } from '../shared/api/instance-path.js';
import { stateWords } from '../shared/instances/instance-state.js';
import { addressOf } from '../shared/location/paths.js';
import { StartButton } from '../shared/actions/components/start-button.js';
import { readOnlyReason, useWhoami } from '../shared/queries/use-whoami.js';

/** A container and its shell. */
export function ContainerRoute() {
  const address = addressOf(useParams());
  const { data: whoami } = useWhoami();
  return (
    <ContainerPage
      address={address}
      shell={(ct) => (
        <SerialConsole
          key={ct.ref}
          shell
          url={consoleUrl('tty', ct, 'ct')}
          guest={{ name: ct.name, state: stateWords(ct), running: ct.phase === 'Running' && !ct.stale }}
          viewOnly={readOnlyReason(whoami) !== undefined}
          start={<StartButton instance={ct} />}
        />
      )}
    />
  );
}
