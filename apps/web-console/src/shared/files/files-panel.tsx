import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import type { BackupPointView } from '@headgate/api-contracts';
import { useEffect, useEffectEvent, useState } from 'react';
import { ContextField } from '../backups/components/context-field.js';
import { nameOfRef } from '../backups/point-names.js';
import { usualContext } from '../backups/usual-context.js';
import { PanelFrame } from '../plans/panel-frame.js';
import { useCapabilities } from '../queries/use-capabilities.js';
import { Button } from '../ui/button.js';
import { ErrorAlert } from '../ui/error-alert.js';
import { Spinner } from '../ui/loading.js';
import { FileBrowser } from './file-browser.js';
import { closeFiles, openFiles } from './file-requests.js';

interface FilesPanelProps {
  target: string;
  point: BackupPointView;
  onClose: () => void;
}

/** The files of a backup, which a guest without a network reads. The session ends with the panel. */
export function FilesPanel({ target, point, onClose }: FilesPanelProps) {
  const { data: capabilities } = useCapabilities();
  const contexts = capabilities?.contexts ?? [];
  const [chosen, setContext] = useState<string>();
  const context = chosen ?? usualContext(point.ref, contexts, 'diskFiles');
  const files = { target, point: point.id };
  const name = nameOfRef(point.ref);
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => openFiles(files, context) });
  // One that can't be closed ends after a while.
  const leave = useEffectEvent(() => {
    if (data) void closeFiles(files, data.session).catch(() => undefined);
  });
  useEffect(() => () => leave(), []);
  return (
    <PanelFrame
      title={t`Files in the backup of ${name}`}
      description={t`A guest without a network reads the disks. They stay as they are.`}
      onClose={onClose}
      onSubmit={() => !data && !isPending && mutate()}
      footer={
        <>
          {!data && (
            <Button type="submit" isDisabled={isPending} isLoading={isPending}>
              {t`Open the files`}
            </Button>
          )}
          <Button variant="link" onClick={onClose}>
            {t`Close`}
          </Button>
        </>
      }
    >
      {!data && (
        <ContextField
          id="files-context"
          contexts={contexts}
          ability="diskFiles"
          value={context}
          onChange={setContext}
        />
      )}
      {isPending && <Spinner label={t`Starting the guest that reads the disks`} />}
      {error && <ErrorAlert title={t`Couldn't open the files`} error={error} onRetry={() => mutate()} />}
      {data && <FileBrowser files={files} session={data} />}
    </PanelFrame>
  );
}
