import type { ImportedImageView } from '@headgate/api-contracts';
import { formatBytes, IMAGE_PHASE, type Backend, type ImportedImage } from '@headgate/domain-contracts';
import type { Upload } from '@headgate/images';

/** The JSON values of the images and uploads of one backend, by namespace and name. JSON omits undefined fields. */
export function presentImports(
  { context, kind }: Pick<Backend, 'context' | 'kind'>,
  images: readonly ImportedImage[],
  uploads: readonly Upload[],
): ImportedImageView[] {
  const listed = images.map(({ ref, bytes, phase, progress, source, reason, createdAt }) => ({
    name: ref.name,
    namespace: ref.namespace,
    size: formatBytes(bytes),
    phase,
    progress: percent(progress),
    source,
    context,
    backend: kind,
    reason,
    createdAt,
  }));
  const known = new Set(listed.map(keyOf));
  const uploading = uploads.map(({ request: { ref, imageBytes, fileBytes }, receivedBytes }) => ({
    name: ref.name,
    namespace: ref.namespace,
    size: formatBytes(imageBytes),
    phase: IMAGE_PHASE.uploading,
    progress: percent(receivedBytes / fileBytes),
    source: 'upload',
    context,
    backend: kind,
    uploadedBytes: receivedBytes,
    fileBytes,
  }));
  return [...listed, ...uploading.filter((upload) => !known.has(keyOf(upload)))].sort((a, b) =>
    keyOf(a) < keyOf(b) ? -1 : 1,
  );
}

const keyOf = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;

/** As CDI writes it. */
function percent(progress: number | null): string {
  if (progress === null) return 'N/A';
  return progress === 1 ? '100.0%' : `${(progress * 100).toFixed(2)}%`;
}
