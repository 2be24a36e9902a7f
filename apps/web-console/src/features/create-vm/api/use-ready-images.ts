import type { ImportedImageView } from '@headgate/api-contracts';
import type { Identity } from '../../../shared/creation/form-fields.js';
import { contextNamed, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { isReady, useImportedImages } from '../../../shared/queries/use-imported-images.js';

/** Finds the imported images in the namespace of a new VM, which its disk can be based on. */
export function useReadyImages(): (vm: Identity) => readonly ImportedImageView[] {
  const { data: capabilities } = useCapabilities();
  const isSupported = capabilities?.contexts.some(({ abilities }) => abilities['images'] === true) ?? false;
  const { data } = useImportedImages({ enabled: isSupported });
  return ({ context, namespace }) => {
    const target = contextNamed(capabilities, context);
    if (!target || !data) return [];
    const { isOnlyOne, default: standard } = target.namespaces;
    const place = isOnlyOne ? standard : namespace || standard;
    return data.images.filter((image) => image.context === context && image.namespace === place && isReady(image));
  };
}
