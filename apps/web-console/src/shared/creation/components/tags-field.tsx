import { t } from '@lingui/core/macro';
import { TextField } from './text-field.js';

interface TagsFieldProps {
  value: string;
  onChange: (tags: string) => void;
  problem?: string | undefined;
}

/** Tags in one line, with spaces or commas between them. */
export function TagsField({ value, onChange, problem }: TagsFieldProps) {
  return <TextField id="tags" label={t`Tags`} placeholder={t`prod, web`} {...{ value, onChange, problem }} />;
}
