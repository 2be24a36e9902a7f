import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Timestamp } from '../../../shared/ui/timestamp.js';

/** When a check first failed. The service forgets it when it restarts. */
export const Since = ({ since }: { since: string | undefined }) =>
  since === undefined ? (
    <span title={t`It has failed since the service first ran this check.`}>{t`since before the first check`}</span>
  ) : (
    <>
      <Trans>
        since <Timestamp at={since} />
      </Trans>
    </>
  );
