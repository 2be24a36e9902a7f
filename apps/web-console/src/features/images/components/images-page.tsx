import { t } from '@lingui/core/macro';
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
import { perLanguage } from '../../../shared/texts/per-language.js';
import { Data } from '../../../shared/ui/data.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

const noContext = perLanguage(() => t`No context can import images.`);

/** The imported images of all contexts, and the images that users have added to the catalog. */
export function ImagesPage() {
  usePageTitle(t`Images`);
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
      ? [noContext(), ...new Set(unavailable.map(({ reason }) => reason))].join(' ')
      : undefined);

  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          {t`Images`}
        </h1>
        <span className="hg-spring" />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
        <ReasonedButton variant="secondary" reason={importRefusal} onClick={() => setOrigin('file')}>
          {t`Upload image…`}
        </ReasonedButton>
        <ReasonedButton reason={importRefusal} onClick={() => setOrigin('url')}>
          {t`Import image…`}
        </ReasonedButton>
      </div>
      {unavailable.length > 0 && (
        <ul className="hg-note hg-gap-below" aria-label={t`Contexts without imported images`}>
          {unavailable.map(({ context, reason }) => (
            <li key={context}>
              <Data>{context}</Data>: <ServiceText>{reason}</ServiceText>
            </li>
          ))}
        </ul>
      )}
      <UploadList />
      {error && <ErrorAlert title={t`Couldn't load the images`} error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height="10rem" label={t`Loading images`} />}
      {data?.isPartial && (
        <Alert isPlain variant="warning" title={t`A context did not respond. Its images are not in this list.`} />
      )}
      {data?.images.length === 0 && (
        <EmptyState title={t`No imported images`} level={2} icon="image">
          {t`Import an image from a URL or upload a file, and create VMs from it.`}
        </EmptyState>
      )}
      {data && data.images.length > 0 && <ImageTable images={data.images} refusal={refusal} onDelete={setDeleted} />}
      <SourceList refusal={refusal} />
      {origin && <ImageDialog origin={origin} targets={targets} onClose={() => setOrigin(undefined)} />}
      {deleted && (
        <PlanPanel
          title={t`Delete ${deleted.name}?`}
          label={t`Delete`}
          failure={t`Couldn't delete ${deleted.name}`}
          isDanger
          preview={(signal) => previewDeletion(deleted, signal)}
          run={() => deleteImage(deleted)}
          onClose={() => setDeleted(undefined)}
          onDone={() => {
            setDeleted(undefined);
            notify({ variant: 'success', title: t`${deleted.name} was deleted` });
            void queries.invalidateQueries({ queryKey: IMAGES_KEY });
          }}
        />
      )}
    </div>
  );
}

const columns = perLanguage(() => [
  t`Name`,
  t`Context`,
  t`Namespace`,
  numeric(t`Size`),
  t`State`,
  t`Source`,
  t`Reason`,
  t`Actions`,
]);

interface ImageTableProps {
  images: readonly ImportedImageView[];
  refusal: string | undefined;
  onDelete: (image: ImportedImageView) => void;
}

function ImageTable({ images, refusal, onDelete }: ImageTableProps) {
  return (
    <Table label={t`Imported images`} columns={columns()} className="hg-gap-below">
      {images.map((image) => (
        <tr key={`${image.context}/${image.namespace}/${image.name}`}>
          <td translate="no">{image.name}</td>
          <td translate="no">{image.context}</td>
          <td translate="no">{image.namespace}</td>
          <td className="hg-numeric">{readableQuantity(image.size)}</td>
          <td>{stateOf(image)}</td>
          <td translate="no">{image.source}</td>
          <td lang="en">{image.reason}</td>
          <td>
            <ReasonedButton
              variant="link"
              aria-label={t`Delete ${image.name}`}
              reason={refusal}
              onClick={() => onDelete(image)}
            >
              {t`Delete`}
            </ReasonedButton>
          </td>
        </tr>
      ))}
    </Table>
  );
}

const phases = perLanguage((): Readonly<Record<string, string>> => ({
  UploadReady: t`Uploading`,
  ImportInProgress: t`Importing`,
  Succeeded: t`Ready`,
}));

/** `Importing, 40.00%`. Another phase of CDI is shown as it is. */
function stateOf({ phase, progress, uploadedBytes, fileBytes }: ImportedImageView): string {
  const word = Object.hasOwn(phases(), phase) ? phases()[phase] : phase;
  if (uploadedBytes !== undefined && fileBytes !== undefined)
    return t`${word ?? phase}, ${readableBytes(uploadedBytes)} of ${readableBytes(fileBytes)}`;
  return phase === 'Succeeded' || phase === 'Failed' || progress === 'N/A' ? `${word}` : `${word}, ${progress}`;
}
