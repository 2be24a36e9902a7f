import {
  DomainError,
  IMAGE_PHASE,
  UnavailableAbility,
  type Backend,
  type InstanceRef,
  type VmSource,
} from '@headgate/domain-contracts';
import type { UnknownImage } from './vm-source.js';

/**
 * The source of a VM for the imported image of a name, which must be in the namespace of the VM.
 * @throws DomainError the problem of the unknown image if there is none, WRONG_STATE when the image is not ready
 */
export async function importedImage(
  backend: Backend,
  { namespace }: InstanceRef,
  { name, problem }: UnknownImage,
): Promise<VmSource> {
  const images = backend.ability('images');
  if (images instanceof UnavailableAbility) throw problem;
  const image = (await images.list()).find(({ ref }) => ref.name === name && ref.namespace === namespace);
  if (!image) throw problem;
  if (image.phase !== IMAGE_PHASE.ready)
    throw new DomainError('WRONG_STATE', `The image ${name} is not ready: its import is ${image.phase}.`);
  const entry = { name, description: '', containerDisk: '', defaultUser: '', imported: true } as const;
  return { kind: 'image', entry };
}
