import { t } from '@lingui/core/macro';
import type { BackupPointView } from '@headgate/api-contracts';
import { useState } from 'react';
import { filesOfPoint } from '../../files/file-requests.js';
import { FilesPanel } from '../../files/files-panel.js';
import { useCapabilities } from '../../queries/use-capabilities.js';
import { nameOfRef } from '../point-names.js';
import { usualContext } from '../usual-context.js';
import { ContextField } from './context-field.js';

interface PointFilesPanelProps {
  target: string;
  point: BackupPointView;
  onClose: () => void;
}

/** The files of a backup, which stays as it is. */
export function PointFilesPanel({ target, point, onClose }: PointFilesPanelProps) {
  const { data: capabilities } = useCapabilities();
  const contexts = capabilities?.contexts ?? [];
  const [chosen, setContext] = useState<string>();
  const context = chosen ?? usualContext(point.ref, contexts, 'diskFiles');
  const name = nameOfRef(point.ref);
  return (
    <FilesPanel
      title={t`Files in the backup of ${name}`}
      source={filesOfPoint(target, point.id, context)}
      options={
        <ContextField
          id="files-context"
          contexts={contexts}
          ability="diskFiles"
          value={context}
          onChange={setContext}
        />
      }
      onClose={onClose}
    />
  );
}
