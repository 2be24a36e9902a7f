import { Button, Skeleton } from '@patternfly/react-core';
import type { InstanceAddress } from '../../../shared/api/instance-path.js';
import { CopyButton } from '../../../shared/ui/copy-button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useManifest } from '../api/use-manifest.js';
import { JsonTree } from './json-tree.js';

/** The backend's own object, to read and to copy. */
export function ManifestTab({ address }: { address: InstanceAddress }) {
  const { data, error, refetch, isFetching } = useManifest(address);
  if (error) return <ErrorAlert title="The manifest can't be shown" error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height="20rem" screenreaderText="Loading the manifest" />;
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <CopyButton text={JSON.stringify(data, null, 2)} label="Copy JSON" />
        <Button
          variant="secondary"
          size="sm"
          icon={<Icon name="restart" />}
          {...(isFetching ? { isLoading: true } : {})}
          onClick={() => void refetch()}
        >
          Read again
        </Button>
      </div>
      <div className="hg-json" role="group" aria-label="Manifest">
        <JsonTree value={data} />
      </div>
    </div>
  );
}
