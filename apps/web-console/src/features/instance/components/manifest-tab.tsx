import { t } from '@lingui/core/macro';
import { CopyButton } from '../../../shared/ui/copy.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import type { ReadInstance } from '../api/details-path.js';
import { useManifest } from '../api/use-manifest.js';
import { JsonTree } from './json-tree.js';

/** The backend's own object. */
export function ManifestTab({ address }: { address: ReadInstance }) {
  const { data, error, refetch, isFetching } = useManifest(address);
  if (error) return <ErrorAlert title={t`Couldn't load the manifest`} error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height="20rem" label={t`Loading the manifest`} />;
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <CopyButton isSmall text={JSON.stringify(data, null, 2)} label={t`Copy JSON`} />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      <div className="hg-json" role="group" aria-label={t`Manifest`}>
        <JsonTree value={data} />
      </div>
    </div>
  );
}
