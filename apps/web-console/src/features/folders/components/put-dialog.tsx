import { t } from '@lingui/core/macro';
import { useState } from 'react';
import type { Instance } from '../../../shared/instances/instance.js';
import { Button } from '../../../shared/ui/button.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { usePutIntoFolder } from '../use-put-into-folder.js';
import { FolderField } from '../../../shared/folders/components/folder-field.js';

interface PutDialogProps {
  member: Instance;
  /** The paths of all folders. */
  known: readonly string[];
  onClose: () => void;
}

/** The choice of another folder for an instance, where it can't be dragged. */
export function PutDialog({ member, known, onClose }: PutDialogProps) {
  const own = member.folder ?? '';
  const [target, setTarget] = useState(own);
  const { put, error, isPending } = usePutIntoFolder();
  const isReady = target !== own && !isPending;
  return (
    <Dialog
      title={t`Put ${member.name} into a folder`}
      description={t`It keeps running where it is.`}
      onClose={onClose}
      onSubmit={() => isReady && put({ member, target, hasForm: true }, { onSuccess: onClose })}
      footer={
        <>
          <Button type="submit" isDisabled={!isReady} isLoading={isPending}>
            {target === '' && own !== '' ? t`Take it out` : t`Put it there`}
          </Button>
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
        </>
      }
    >
      <FolderField label={t`Folder`} none={t`None`} folders={known} value={target} onChange={setTarget} />
      {error && <ErrorAlert title={t`Couldn't change the folder of ${member.name}`} error={error} />}
    </Dialog>
  );
}
