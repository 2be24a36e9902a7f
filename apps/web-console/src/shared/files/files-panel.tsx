import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, type ReactNode } from 'react';
import { PanelFrame } from '../plans/panel-frame.js';
import { Button } from '../ui/button.js';
import { ErrorAlert } from '../ui/error-alert.js';
import { Spinner } from '../ui/loading.js';
import { FileBrowser } from './file-browser.js';
import type { FilesSource } from './file-requests.js';

interface FilesPanelProps {
  title: string;
  source: FilesSource;
  /** Choices that belong to the request. */
  options?: ReactNode;
  onClose: () => void;
}

/** The files on disks, which a guest without a network reads. The session ends with the panel. */
export function FilesPanel({ title, source, options, onClose }: FilesPanelProps) {
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => source.open() });
  // One that can't be closed ends after a while.
  const leave = useEffectEvent(() => {
    if (data) void source.close(data.session).catch(() => undefined);
  });
  useEffect(() => () => leave(), []);
  return (
    <PanelFrame
      title={title}
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
      {!data && options}
      {isPending && <Spinner label={t`Starting the guest that reads the disks`} />}
      {error && <ErrorAlert title={t`Couldn't open the files`} error={error} onRetry={() => mutate()} />}
      {data && <FileBrowser source={source} session={data} />}
    </PanelFrame>
  );
}
