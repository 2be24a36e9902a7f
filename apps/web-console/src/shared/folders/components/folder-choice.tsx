import { t } from '@lingui/core/macro';
import { Link } from 'wouter';
import { paths } from '../../location/paths.js';
import { useFolderPaths } from '../../queries/use-folder-paths.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { FolderField } from './folder-field.js';

interface FolderChoiceProps {
  label: string;
  /** A path, or empty while none is chosen. */
  value: string;
  onChange: (path: string) => void;
}

/** The choice of one of the folders that exist. */
export function FolderChoice({ label, value, onChange }: FolderChoiceProps) {
  const { data: folders = [], error, isSuccess, refetch } = useFolderPaths(true);
  return (
    <>
      <FolderField label={label} none={t`Choose a folder`} folders={folders} value={value} onChange={onChange} />
      {error && <ErrorAlert title={t`Couldn't load the folders`} error={error} onRetry={() => void refetch()} />}
      {isSuccess && folders.length === 0 && (
        <p className="hg-note">
          {t`There are no folders yet.`} <Link href={paths.folders}>{t`Create one`}</Link>
        </p>
      )}
    </>
  );
}
