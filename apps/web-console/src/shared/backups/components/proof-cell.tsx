import { t } from '@lingui/core/macro';
import type { BackupPointView } from '@headgate/api-contracts';
import { ServiceText } from '../../ui/service-text.js';
import { StatusLabel } from '../../ui/status-label.js';
import { Timestamp } from '../../ui/timestamp.js';
import { proofWording } from '../backup-wording.js';

/** Whether a backup has booted, and when. */
export function ProofCell({ proof }: Pick<BackupPointView, 'proof'>) {
  if (!proof) return <span className="hg-note">{t`Never booted`}</span>;
  return (
    <>
      <StatusLabel wording={proofWording()[proof.state]} title={proof.reason} />{' '}
      <span className="hg-note">
        <Timestamp at={proof.at} />
      </span>
      {proof.reason && (
        <p className="hg-note">
          <ServiceText>{proof.reason}</ServiceText>
        </p>
      )}
    </>
  );
}
