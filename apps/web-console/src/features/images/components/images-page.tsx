import { useQueryClient } from '@tanstack/react-query';
import type { ImportedImageView } from '@headgate/api-contracts';
import { useState } from 'react';
import { useCreationTargets } from '../../../shared/creation/use-creation-targets.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { readableBytes, readableQuantity } from '../../../shared/quantity/quantity.js';
import { unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { IMAGES_KEY, useImportedImages } from '../../../shared/queries/use-imported-images.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { Alert } from '../../../shared/ui/alert.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { numeric, Table } from '../../../shared/ui/table.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { deleteImage, previewDeletion } from '../api/image-requests.js';
import type { ImageOrigin } from '../image-form.js';
import { ImageDialog } from './image-dialog.js';
import { SourceList } from './source-list.js';
import { UploadList } from './upload-list.js';

const NO_CONTEXT = 'No context can import images.';

/** The imported images of all contexts, and the images that users have added to the catalog. */
export function ImagesPage() {
  usePageTitle('Images');
  const { data, error, refetch, isFetching } = useImportedImages();
  const { data: capabilities } = useCapabilities();
  const { data: whoami } = useWhoami();
  const targets = useCreationTargets('images');
  const [origin, setOrigin] = useState<ImageOrigin>();
  const [deleted, setDeleted] = useState<ImportedImageView>();
  const queries = useQueryClient();
  const notify = useNotify();

  const refusal = readOnlyReason(whoami);
  const unavailable = (capabilities?.contexts ?? []).flatMap((context) => {
    const reason = unavailableReason(context, 'images');
    return reason === undefined ? [] : [{ context: context.context, reason }];
  });
  const importRefusal =
    refusal ??
    (capabilities && targets.contexts.length === 0
      ? [NO_CONTEXT, ...new Set(unavailable.map(({ reason }) => reason))].join(' ')
      : undefined);

  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          Images
        </h1>
        <span className="hg-spring" />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
        <ReasonedButton variant="secondary" reason={importRefusal} onClick={() => setOrigin('file')}>
          Upload image…
        </ReasonedButton>
        <ReasonedButton reason={importRefusal} onClick={() => setOrigin('url')}>
          Import image…
        </ReasonedButton>
      </div>
      {unavailable.length > 0 && (
        <ul className="hg-note hg-gap-below" aria-label="Contexts without imported images">
          {unavailable.map(({ context, reason }) => (
            <li key={context}>
              {context}: {reason}
            </li>
          ))}
        </ul>
      )}
      <UploadList />
      {error && <ErrorAlert title="Couldn't load the images" error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height="10rem" label="Loading images" />}
      {data?.isPartial && (
        <Alert isPlain variant="warning" title="A context did not respond. Its images are not in this list." />
      )}
      {data?.images.length === 0 && (
        <EmptyState title="No imported images" level={2} icon="image">
          Import an image from a URL or upload a file, and create VMs from it.
        </EmptyState>
      )}
      {data && data.images.length > 0 && <ImageTable images={data.images} refusal={refusal} onDelete={setDeleted} />}
      <SourceList refusal={refusal} />
      {origin && <ImageDialog origin={origin} targets={targets} onClose={() => setOrigin(undefined)} />}
      {deleted && (
        <PlanPanel
          title={`Delete ${deleted.name}?`}
          label="Delete"
          failure={`Couldn't delete ${deleted.name}`}
          isDanger
          preview={(signal) => previewDeletion(deleted, signal)}
          run={() => deleteImage(deleted)}
          onClose={() => setDeleted(undefined)}
          onDone={() => {
            setDeleted(undefined);
            notify({ variant: 'success', title: `${deleted.name} was deleted` });
            void queries.invalidateQueries({ queryKey: IMAGES_KEY });
          }}
        />
      )}
    </div>
  );
}

const COLUMNS = ['Name', 'Context', 'Namespace', numeric('Size'), 'State', 'Source', 'Reason', 'Actions'];

interface ImageTableProps {
  images: readonly ImportedImageView[];
  refusal: string | undefined;
  onDelete: (image: ImportedImageView) => void;
}

function ImageTable({ images, refusal, onDelete }: ImageTableProps) {
  return (
    <Table label="Imported images" columns={COLUMNS} className="hg-gap-below">
      {images.map((image) => (
        <tr key={`${image.context}/${image.namespace}/${image.name}`}>
          <td>{image.name}</td>
          <td>{image.context}</td>
          <td>{image.namespace}</td>
          <td className="hg-numeric">{readableQuantity(image.size)}</td>
          <td>{stateOf(image)}</td>
          <td>{image.source}</td>
          <td>{image.reason}</td>
          <td>
            <ReasonedButton
              variant="link"
              aria-label={`Delete ${image.name}`}
              reason={refusal}
              onClick={() => onDelete(image)}
            >
              Delete
            </ReasonedButton>
          </td>
        </tr>
      ))}
    </Table>
  );
}

const PHASES: Readonly<Record<string, string>> = {
  UploadReady: 'Uploading',
  ImportInProgress: 'Importing',
  Succeeded: 'Ready',
};

/** `Importing, 40.00%`. Another phase of CDI is shown as it is. */
function stateOf({ phase, progress, uploadedBytes, fileBytes }: ImportedImageView): string {
  const word = Object.hasOwn(PHASES, phase) ? PHASES[phase] : phase;
  if (uploadedBytes !== undefined && fileBytes !== undefined)
    return `${word}, ${readableBytes(uploadedBytes)} of ${readableBytes(fileBytes)}`;
  return phase === 'Succeeded' || phase === 'Failed' || progress === 'N/A' ? `${word}` : `${word}, ${progress}`;
}
