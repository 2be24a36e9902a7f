import { t } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import { FolderBrowser } from '../../../shared/files/file-browser.js';
import { foldersOfContainer } from '../../../shared/files/file-requests.js';
import { contextNamed, unavailableForContainers, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

/** The files of a container that runs, as its user sees them. */
export function ContainerFilesTab({ ct }: { ct: ContainerView }) {
  const { data: capabilities } = useCapabilities();
  const unavailable = unavailableForContainers(contextNamed(capabilities, ct.context), 'containerFiles');
  if (unavailable !== undefined)
    return (
      <p className="hg-note">
        <ServiceText>{unavailable}</ServiceText>
      </p>
    );
  if (ct.phase !== 'Running')
    return (
      <EmptyState title={t`No files`} level={2}>
        {t`The container does not run. Its files are read by its own programs.`}
      </EmptyState>
    );
  return (
    <div className="hg-page">
      <FolderBrowser folders={foldersOfContainer(ct)} />
    </div>
  );
}
