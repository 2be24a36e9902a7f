import { t } from '@lingui/core/macro';
import { useFolderPaths } from '../../queries/use-folder-paths.js';
import { TextField } from './text-field.js';

interface FolderFieldProps {
  readonly value: string;
  readonly onChange: (folder: string) => void;
  readonly problem: string | undefined;
}

/** The folder of a new instance, with the existing ones as suggestions. */
export function FolderField({ value, onChange, problem }: FolderFieldProps) {
  const { data: folders = [] } = useFolderPaths(true);
  return (
    <TextField
      id="folder"
      label={t`Folder`}
      placeholder={t`None`}
      suggestions={folders}
      value={value}
      onChange={onChange}
      problem={problem}
    />
  );
}
