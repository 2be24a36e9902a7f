import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { VmView } from '@headgate/api-contracts';
import { useFleet, useRetryFleet } from '../../../shared/fleet/fleet-provider.js';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { useContexts } from '../../../shared/fleet/use-contexts.js';

/** Messages about the data on the page: outdated, incomplete, or simulated. */
export function Banners() {
  const { phase, error, entries, partial, lostSince } = useFleet((fleet) => fleet);
  const retry = useRetryFleet();
  const contexts = useContexts();
  // Without the service, nothing is known about the contexts.
  const down = phase === 'lost' ? [] : contexts.filter(({ up }) => !up);

  return (
    <div className="hg-banners" role="region" aria-label={t`Notices`} aria-live="polite">
      {phase === 'lost' && entries.length > 0 && (
        <Alert
          variant="danger"
          title={t`The list is out of date`}
          actions={
            <Button variant="link" onClick={retry}>
              {t`Retry now`}
            </Button>
          }
        >
          {error}{' '}
          {lostSince !== undefined && (
            <>
              <Trans>
                Showing the state as of <Timestamp at={new Date(lostSince).toISOString()} />.{' '}
              </Trans>
            </>
          )}
          {t`Retrying automatically.`}
        </Alert>
      )}
      {down.length > 0 && (
        <Alert
          variant={down.length === contexts.length ? 'danger' : 'warning'}
          title={outageTitle(
            down.map(({ context }) => context),
            contexts.length,
          )}
        >
          <ul>
            {down.map(({ context, reason }) => (
              <li key={context}>{outageText(context, reason, entries)}</li>
            ))}
          </ul>
        </Alert>
      )}
      {partial && down.length === 0 && phase !== 'lost' && (
        <Alert variant="warning" title={t`Part of the list is out of date`}>
          {t`Entries in italics show the last known state, because their context is unreachable.`}
        </Alert>
      )}
      <SimulationNotice names={contexts.filter(({ simulated }) => simulated).map(({ context }) => context)} />
    </div>
  );
}

function outageTitle(down: readonly string[], total: number): string {
  if (down.length === total) return t`No context is reachable`;
  return t`${down.join(', ')} ${plural(down.length, { one: 'is', other: 'are' })} unreachable`;
}

/** Why a context is unreachable and what that means for the list. */
function outageText(context: string, reason: string | undefined, entries: readonly VmView[]): string {
  const count = entries.filter((entry) => entry.context === context).length;
  const cause = reason ? `${context}: ${reason.replace(/[.\s]+$/, '')}.` : t`${context} does not respond.`;
  if (count === 0) return cause;
  return t`${cause} The last known state of ${plural(count, { one: '# VM', other: '# VMs' })} is shown.`;
}

/** Warns that a sandbox has no real guests. After the user dismisses it, only the mark next to the context remains. */
function SimulationNotice({ names }: { names: readonly string[] }) {
  const [isDismissed, setIsDismissed] = useRemembered('simulation-notice-read', false);
  if (names.length === 0 || isDismissed) return null;
  return (
    <Alert
      variant="info"
      title={t`The guests of ${names.join(', ')} are simulated`}
      actions={
        <Button variant="link" onClick={() => setIsDismissed(true)}>
          {t`Dismiss`}
        </Button>
      }
    >
      <Trans>
        For real guests, start Headgate with <code>npm start -- --local</code> or connect it to a cluster.
      </Trans>
    </Alert>
  );
}
