import { Timestamp } from '../../../shared/ui/timestamp.js';

/** When a check first failed. The service forgets it when it restarts. */
export const Since = ({ since }: { since: string | undefined }) =>
  since === undefined ? (
    <span title="It failed already when the service first ran this check.">
      since before the service started to check
    </span>
  ) : (
    <>
      since <Timestamp at={since} />
    </>
  );
