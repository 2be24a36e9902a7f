import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { messageOf } from '../../../shared/api/api-error.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { IMAGES_KEY } from '../../../shared/queries/use-imported-images.js';
import { Button } from '../../../shared/ui/button.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { Progress } from '../../../shared/ui/progress.js';
import { uploads, useUploads, type Upload } from '../upload-store.js';

/** The uploads of this tab. */
export function UploadList() {
  const running = useUploads();
  if (running.length === 0) return null;
  return (
    <ul aria-label={t`Uploads`} className="hg-checks hg-gap-below">
      {running.map((upload) => (
        <UploadItem key={upload.id} upload={upload} />
      ))}
    </ul>
  );
}

function UploadItem({ upload: { id, target, file, storedBytes, error } }: { upload: Upload }) {
  const queries = useQueryClient();
  const notify = useNotify();
  const isStopped = error !== undefined;
  const cancel = (): void => {
    uploads
      .cancel(id)
      .catch((failure: unknown) =>
        notify({
          variant: 'danger',
          title: t`Couldn't delete the uploaded parts of ${target.name}`,
          body: messageOf(failure),
        }),
      )
      .finally(() => void queries.invalidateQueries({ queryKey: IMAGES_KEY }));
  };
  return (
    <li className="hg-card" aria-label={t`Upload of ${target.name}`}>
      <Progress
        title={`${target.name} (${file.name})`}
        percent={(storedBytes / file.size) * 100}
        label={t`${readableBytes(storedBytes)} of ${readableBytes(file.size)}`}
        tone={isStopped ? 'danger' : 'progress'}
      />
      {isStopped && (
        <p role="alert" className="hg-status--danger">
          {messageOf(error)}
        </p>
      )}
      <div className="hg-toolbar">
        {isStopped && (
          <Button
            variant="secondary"
            isSmall
            aria-label={t`Resume the upload of ${target.name}`}
            onClick={() => uploads.resume(id)}
          >
            {t`Resume`}
          </Button>
        )}
        <Button variant="link" aria-label={t`Cancel the upload of ${target.name}`} onClick={cancel}>
          {t`Cancel`}
        </Button>
      </div>
    </li>
  );
}
