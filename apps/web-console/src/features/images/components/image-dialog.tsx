import { t } from '@lingui/core/macro';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrors } from '../../../shared/api/field-errors.js';
import { IdentityFields } from '../../../shared/creation/components/identity-fields.js';
import { TextField } from '../../../shared/creation/components/text-field.js';
import type { CreationTargets } from '../../../shared/creation/use-creation-targets.js';
import { PlanView } from '../../../shared/plans/plan-view.js';
import { IMAGES_KEY } from '../../../shared/queries/use-imported-images.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';
import { Button } from '../../../shared/ui/button.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { importImage, previewImport, previewUpload } from '../api/image-requests.js';
import {
  EMPTY_IMAGE,
  IMAGE_FIELDS,
  imageProblems,
  imageRequest,
  type ImageForm,
  type ImageOrigin,
} from '../image-form.js';
import { uploads } from '../upload-store.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

interface ImageDialogProps {
  origin: ImageOrigin;
  targets: CreationTargets;
  onClose: () => void;
}

const wording = perLanguage(
  () =>
    ({
      url: { title: t`Import image`, label: t`Import` },
      file: { title: t`Upload image`, label: t`Upload` },
    }) as const,
);

/** The form of a new image, from a URL or from a file. */
export function ImageDialog({ origin, targets, onClose }: ImageDialogProps) {
  const { contexts, namespaces, contextNamed } = targets;
  const [typed, setTyped] = useState(EMPTY_IMAGE);
  const [hasAttempted, setHasAttempted] = useState(false);
  const queries = useQueryClient();
  const trackTask = useTrackTask();
  const target = contextNamed(typed.context);
  const form = {
    ...typed,
    context: target?.context ?? typed.context,
    // A namespace that was typed for another context.
    namespace: target?.namespaces.isOnlyOne ? '' : typed.namespace,
  };
  const found = imageProblems(form, origin);
  const request = imageRequest(form);

  const accepted = ({ task }: { task?: string }): void => {
    if (task !== undefined) trackTask(task);
    void queries.invalidateQueries({ queryKey: IMAGES_KEY });
  };
  const preview = useMutation({
    mutationFn: () =>
      form.file ? previewUpload(request, form.file) : previewImport({ ...request, url: form.url.trim() }),
  });
  const create = useMutation({
    mutationFn: () => importImage({ ...request, url: form.url.trim() }),
    onSuccess: (answer) => {
      accepted(answer);
      onClose();
    },
  });
  const isBusy = preview.isPending || create.isPending;
  const failure = create.error ?? preview.error;
  const refused = fieldErrors(failure, IMAGE_FIELDS);
  const problems = { ...refused, ...(hasAttempted ? found : {}) };

  const change = (part: Partial<ImageForm>): void => {
    setTyped({ ...typed, ...part });
    preview.reset();
    create.reset();
  };
  const attempt = (run: () => void) => (): void => {
    setHasAttempted(true);
    if (!isBusy && Object.keys(found).length === 0) run();
  };
  const submit = attempt(() => {
    const { file } = form;
    if (!file) return create.mutate();
    const address = { ...form, namespace: form.namespace || (target?.namespaces.default ?? '') };
    uploads.start({ target: request, file, address, onAccepted: accepted });
    return onClose();
  });

  const { title, label } = wording()[origin];
  return (
    <Dialog
      title={title}
      size="medium"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button type="submit" isLoading={create.isPending} isDisabled={isBusy}>
            {label}
          </Button>
          <Button variant="secondary" isDisabled={isBusy} onClick={attempt(() => preview.mutate())}>
            {t`Preview`}
          </Button>
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
        </>
      }
    >
      <div className="hg-form">
        <IdentityFields {...{ form, problems, contexts, namespaces }} onChange={change} />
        {origin === 'url' ? (
          <TextField
            id="url"
            label="URL"
            required
            placeholder="https://example.org/debian.qcow2"
            value={form.url}
            problem={problems.url}
            onChange={(url) => change({ url })}
          />
        ) : (
          <Field
            label={t`File`}
            id="file"
            required
            problem={problems.file}
            hint={t`To continue an interrupted upload, choose the same file and enter the same values.`}
          >
            <input
              id="file"
              type="file"
              className="hg-input"
              aria-invalid={problems.file !== undefined}
              aria-describedby={helpId('file')}
              onChange={(event) => change({ file: event.target.files?.[0] })}
            />
          </Field>
        )}
        <TextField
          id="size"
          label={t`Size of the disk`}
          placeholder="20G"
          hint={t`A smaller image is extended to this size`}
          value={form.size}
          problem={problems.size}
          onChange={(size) => change({ size })}
        />
        <TextField
          id="checksum"
          label={t`Checksum of the file`}
          placeholder="sha256:…"
          value={form.checksum}
          problem={problems.checksum}
          onChange={(checksum) => change({ checksum })}
        />
        {failure && Object.keys(refused).length === 0 && (
          <ErrorAlert title={t`The service refused the request`} error={failure} />
        )}
        {preview.data && <PlanView plan={preview.data} title={t`Preview`} />}
      </div>
    </Dialog>
  );
}
