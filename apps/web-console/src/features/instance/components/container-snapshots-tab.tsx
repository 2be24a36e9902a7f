import { t } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import { useState } from 'react';
import { busyReason } from '../../../shared/instances/busy.js';
import { contextNamed, unavailableForContainers, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { CloneDialog } from './clone-dialog.js';
import { Snapshots } from './snapshots-tab.js';

/** The snapshots of a container, and its clones. */
export function ContainerSnapshotsTab({ ct }: { ct: ContainerView }) {
  const { data: capabilities } = useCapabilities();
  const { data: whoami } = useWhoami();
  const [isCloning, setIsCloning] = useState(false);
  const context = contextNamed(capabilities, ct.context);
  const refusal = readOnlyReason(whoami);
  const unavailable = unavailableForContainers(context, 'snapshots');
  const cloneRefusal = unavailableForContainers(context, 'cloning') ?? refusal ?? busyReason(ct, 'copy');
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <ReasonedButton variant="secondary" reason={cloneRefusal} onClick={() => setIsCloning(true)}>
          {t`Clone…`}
        </ReasonedButton>
      </div>
      {isCloning && <CloneDialog vm={ct} onClose={() => setIsCloning(false)} />}
      <section aria-label={t`Snapshots`} className="hg-section">
        <h2>{t`Snapshots`}</h2>
        {unavailable === undefined ? (
          <Snapshots vm={ct} refusal={refusal} />
        ) : (
          <p className="hg-note" lang="en">
            {unavailable}
          </p>
        )}
      </section>
    </div>
  );
}
