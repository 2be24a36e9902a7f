import { t } from '@lingui/core/macro';
import type { FieldErrors } from '../../shared/api/field-errors.js';
import type { Identity } from '../../shared/creation/form-fields.js';
import { onlyProblems } from '../../shared/creation/form-problems.js';
import { nameProblem } from '../../shared/names/name-rule.js';
import { diskProblem } from '../../shared/quantity/quantity.js';

/** How the content of an image arrives. */
export type ImageOrigin = 'url' | 'file';

/** The contents of the form, as the user typed them. */
export interface ImageForm extends Identity {
  readonly url: string;
  readonly file: File | undefined;
  readonly size: string;
  readonly checksum: string;
}

export const IMAGE_FIELDS = ['name', 'namespace', 'context', 'url', 'file', 'size', 'checksum'] as const;
export type ImageField = (typeof IMAGE_FIELDS)[number];

export const EMPTY_IMAGE: ImageForm = {
  name: '',
  namespace: '',
  context: '',
  url: '',
  file: undefined,
  size: '',
  checksum: '',
};

/** The problems of each field. The service has the last word. */
export const imageProblems = (form: ImageForm, origin: ImageOrigin): FieldErrors<ImageField> =>
  onlyProblems<ImageField>({
    name: nameProblem(form.name),
    namespace: form.namespace === '' ? undefined : nameProblem(form.namespace),
    ...(origin === 'url'
      ? {
          url: /^https?:\/\/./.test(form.url.trim()) ? undefined : t`Enter a URL that begins with http:// or https://.`,
        }
      : { file: fileProblem(form.file) }),
    size: form.size === '' ? undefined : diskProblem(form.size),
  });

const fileProblem = (file: File | undefined): string | undefined =>
  file === undefined ? t`Choose a file.` : file.size === 0 ? t`The file is empty.` : undefined;

/** What both kinds of requests have: only the fields with a value, so that the service's defaults apply to the rest. */
export const imageRequest = ({ name, context, namespace, size, checksum }: ImageForm) => ({
  name,
  context,
  ...(namespace === '' ? {} : { namespace }),
  ...(size === '' ? {} : { size }),
  ...(checksum.trim() === '' ? {} : { checksum: checksum.trim() }),
});
