import { Alert, Button } from '@patternfly/react-core';
import type { VmView } from '@headgate/api-contracts';
import { useFleet, useRetryFleet } from '../../../shared/fleet/fleet-provider.js';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { Moment } from '../../../shared/ui/moment.js';
import { useContexts } from '../use-contexts.js';

/** What an operator must know before he trusts what he sees. */
export function Banners() {
  const { phase, error, entries, partial, heardAt } = useFleet((fleet) => fleet);
  const retry = useRetryFleet();
  const contexts = useContexts();
  const down = contexts.filter(({ up }) => !up);

  return (
    <div className="hg-banners" role="region" aria-label="Notices" aria-live="polite">
      {phase === 'lost' && entries.length > 0 && (
        <Alert
          isInline
          component="p"
          variant="danger"
          title="The list is not up to date"
          actionLinks={
            <Button variant="link" isInline onClick={retry}>
              Try now
            </Button>
          }
        >
          {error} What you see is what was known{' '}
          {heardAt === undefined ? 'last' : <Moment at={new Date(heardAt).toISOString()} />}; it is tried again by
          itself.
        </Alert>
      )}
      {down.length > 0 && (
        <Alert
          isInline
          component="p"
          variant="warning"
          title={`${down.map(({ context }) => context).join(', ')} can't be reached`}
        >
          <ul>
            {down.map(({ context, reason }) => (
              <li key={context}>{lostContext(context, reason, entries)}</li>
            ))}
          </ul>
        </Alert>
      )}
      {partial && down.length === 0 && (
        <Alert isInline component="p" variant="warning" title="Part of the list is not up to date">
          Entries in italics are the last known ones: their context can&apos;t be reached.
        </Alert>
      )}
      <SimulationNotice names={contexts.filter(({ simulated }) => simulated).map(({ context }) => context)} />
    </div>
  );
}

/** What is lost with a context, in a sentence or two. */
function lostContext(context: string, reason: string | undefined, entries: readonly VmView[]): string {
  const known = entries.filter((entry) => entry.context === context).length;
  const cause = reason ? `${context}: ${reason.replace(/[.\s]+$/, '')}.` : `${context} does not answer.`;
  return known === 0
    ? cause
    : `${cause} Its ${known.toLocaleString('en')} instances are shown as they were known last.`;
}

/** Nobody shall take a sandbox for his machines. Once read it shrinks to the word beside the context. */
function SimulationNotice({ names }: { names: readonly string[] }) {
  const [read, setRead] = useRemembered('simulation-notice-read', false);
  if (names.length === 0 || read) return null;
  return (
    <Alert
      isInline
      component="p"
      variant="info"
      title={`The guests of ${names.join(', ')} are simulated`}
      actionLinks={
        <Button variant="link" isInline onClick={() => setRead(true)}>
          I know
        </Button>
      }
    >
      Nothing here runs for real. For real guests start Headgate with <code>npm start -- --local</code>, or give it a
      cluster.
    </Alert>
  );
}
