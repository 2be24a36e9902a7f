import type { ImportedImageView } from '@headgate/api-contracts';
import type { Identity } from '../../../shared/creation/form-fields.js';
import { contextNamed, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { isReady, useImportedImages } from '../../../shared/queries/use-imported-images.js';

/** The imported images in the namespace of the new VM, which its disk can be based on. */
export function useReadyImages({ context, namespace }: Identity): readonly ImportedImageView[] {
  const { data: capabilities } = useCapabilities();
  const target = contextNamed(capabilities, context);
  const { data } = useImportedImages({ enabled: target?.abilities['images'] === true });
  if (!target || !data) return [];
  const { isOnlyOne, default: standard } = target.namespaces;
  const place = isOnlyOne ? standard : namespace || standard;
  return data.images.filter((image) => image.context === context && image.namespace === place && isReady(image));
}
